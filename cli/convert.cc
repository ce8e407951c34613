#include <roundhouse/onnxruntime_cxx_api.h>
#include <roundhouse/roundhouse_c_api.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "command.h"
#include "print.h"
#include "system.h"
#include "terminal.h"

namespace rh::cli {

namespace {

using nlohmann::json;

struct Convert {
  std::string model, output, precision, calibration;
  std::vector<std::string> keep_operators, keep_nodes, keep_values, convert_operators;
  bool half_ends = false, asymmetric = false, per_tensor = false, nodes = false;
};

std::string read_text(const std::string& path) {
  std::ifstream file(as_path(path), std::ios::binary);
  if (!file) throw std::runtime_error("cannot read '" + path + "'");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// What the library is asked for.
std::vector<std::pair<std::string, std::string>> entries_of(const Convert& convert) {
  std::vector<std::pair<std::string, std::string>> entries{{"precision", convert.precision}};
  const auto add = [&](const char* key, const std::vector<std::string>& names) {
    for (const std::string& name : names) entries.emplace_back(key, name);
  };
  add("keep_operator", convert.keep_operators);
  add("keep_node", convert.keep_nodes);
  add("keep_value", convert.keep_values);
  add("convert_operator", convert.convert_operators);
  if (!convert.calibration.empty()) entries.emplace_back("calibration", read_text(convert.calibration));
  if (convert.half_ends) add("keep_inputs", {"0"}), add("keep_outputs", {"0"});
  if (convert.asymmetric) entries.emplace_back("symmetric", "0");
  if (convert.per_tensor) entries.emplace_back("per_channel", "0");
  return entries;
}

json converted(const Convert& convert) {
  const auto entries = entries_of(convert);
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : entries) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  Ort::AllocatorWithDefaultOptions allocator;
  char* text = nullptr;
  Ort::ThrowOnError(RhConvertModel(as_path(convert.model).c_str(), as_path(convert.output).c_str(), keys.data(), values.data(), keys.size(),
                                   allocator, &text));
  json report = json::parse(Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get());
  report["output"] = convert.output;
  return report;
}

void print_kept(const Globals& globals, const json& report, bool each) {
  if (each) {
    Table table({{.title = "node", .elastic = true}, {.title = "operator"}, {.title = "why it stays", .elastic = true}});
    for (const json& node : report["kept"]) table.add({node["node"], node["operator"], node["reason"]});
    return table.print(globals);
  }
  std::map<std::pair<std::string, std::string>, size_t> groups;  // by operator and reason
  for (const json& node : report["kept"]) ++groups[{node["operator"], node["reason"]}];
  Table table({{.title = "operator"}, {.title = "nodes", .right = true}, {.title = "why they stay", .elastic = true}});
  for (const auto& [what, count] : groups) table.add({what.first, std::to_string(count), what.second});
  table.print(globals);
}

void print_report(const Globals& globals, const Convert& convert, const json& report) {
  const bool quantized = convert.precision.ends_with("int8");
  std::printf("%zu nodes converted to %s, %zu stay, %s %s added\n", report["converted"].size(), convert.precision.c_str(),
              report["kept"].size(), report["added_nodes"].dump().c_str(),
              quantized ? "pairs of QuantizeLinear and DequantizeLinear" : "Casts");
  std::printf("weights %s, before %s\n", bytes_text(report["weight_bytes"]["after"].get<double>()).c_str(),
              bytes_text(report["weight_bytes"]["before"].get<double>()).c_str());
  for (const json& name : report["unused"]) {
    std::fprintf(stderr, "roundhouse: the model has no tensor '%s' of the calibration table\n", name.get<std::string>().c_str());
  }
  if (!report["kept"].empty()) print_kept(globals, report, convert.nodes);
}

}  // namespace

Command declare_convert(CLI::App& app, const Globals& globals) {
  auto convert = std::make_shared<Convert>();
  app.add_option("model", convert->model, "The .onnx file")->required();
  app.add_option("output", convert->output, "Where the copy goes")->required();
  app.add_option("-p,--precision", convert->precision, "What it computes in")
      ->required()
      ->check(CLI::IsMember({"float16", "bfloat16", "int8", "uint8"}));
  app.add_option("--calibration", convert->calibration, "A table of ranges or scales of tensors, which 8 bits need");
  app.add_option("--keep-operator", convert->keep_operators, "An operator that stays float32, such as Softmax or com.microsoft::Gelu");
  app.add_option("--keep-node", convert->keep_nodes, "A node that stays float32");
  app.add_option("--keep-value", convert->keep_values, "An input or output that stays float32 under --half-ends");
  app.add_option("--convert-operator", convert->convert_operators, "An operator that converts though it loses precision");
  app.add_flag("--half-ends", convert->half_ends, "Inputs and outputs of the model convert too");
  app.add_flag("--asymmetric", convert->asymmetric, "Zero points of 8 bits use all codes for a range");
  app.add_flag("--per-tensor", convert->per_tensor, "Weights of 8 bits have one scale each, not one a channel");
  app.add_flag("--nodes", convert->nodes, "List each node that stays");
  return [convert, &globals] {
    const json report = converted(*convert);
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      print_report(globals, *convert, report);
    }
    return 0;
  };
}

}  // namespace rh::cli
