#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "abi/allocator.h"
#include "abi/value.h"
#include "base/nearest.h"
#include "base/paths.h"
#include "capi/guard.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "ops/inference.h"
#include "passes/precision/convert_floats.h"
#include "passes/precision/insert_quantization.h"
#include "roundhouse/roundhouse_c_api.h"
#include "session/model_options.h"

namespace rh::capi {

namespace {

constexpr size_t kExternalBytes = 1024;  // from which on tensors of large models go to a file of their own

/// What the keys ask for.
struct Conversion {
  DType to = DType::undefined;
  bool keep_inputs = true, keep_outputs = true, symmetric = true, per_channel = true;
  std::vector<std::string> keep_operators, keep_nodes, keep_values, convert_operators;
  std::optional<precision::Calibration> calibration;

  bool is_quantization() const { return to == DType::int8 || to == DType::uint8; }
};

DType precision_of(const std::string& value) {
  static constexpr auto kTypes = std::to_array<std::string_view>({"float16", "bfloat16", "int8", "uint8"});
  if (std::ranges::find(kTypes, value) == kTypes.end()) {
    fail(ErrorCode::invalid_argument, "'precision' is '{}', expected float16, bfloat16, int8 or uint8", value);
  }
  return dtype_from_string(value);
}

bool flag_of(const std::string& key, const std::string& value) {
  if (value != "0" && value != "1") fail(ErrorCode::invalid_argument, "'{}' is '{}', expected 0 or 1", key, value);
  return value == "1";
}

void take(Conversion& conversion, const std::string& key, const std::string& value) {
  const std::pair<std::string_view, std::vector<std::string>*> lists[] = {{"keep_operator", &conversion.keep_operators},
                                                                          {"keep_node", &conversion.keep_nodes},
                                                                          {"keep_value", &conversion.keep_values},
                                                                          {"convert_operator", &conversion.convert_operators}};
  const std::pair<std::string_view, bool*> flags[] = {{"keep_inputs", &conversion.keep_inputs},
                                                      {"keep_outputs", &conversion.keep_outputs},
                                                      {"symmetric", &conversion.symmetric},
                                                      {"per_channel", &conversion.per_channel}};
  std::vector<std::string_view> known{"precision", "calibration"};
  for (const auto& [name, list] : lists) {
    if (name == key) return list->push_back(value);
    known.push_back(name);
  }
  for (const auto& [name, flag] : flags) {
    if (name == key) {
      *flag = flag_of(key, value);
      return;
    }
    known.push_back(name);
  }
  if (key == "precision") {
    conversion.to = precision_of(value);
  } else if (key == "calibration") {
    conversion.calibration = precision::parse_calibration(value);
  } else {
    fail(ErrorCode::invalid_argument, "there is no key '{}', the nearest is '{}'", key, nearest(key, known));
  }
}

Conversion read_keys(const char* const* keys, const char* const* values, size_t count) {
  Conversion conversion;
  for (size_t i = 0; i < count; ++i) take(conversion, &checked(keys[i], "keys"), &checked(values[i], "values"));
  if (conversion.to == DType::undefined) {
    fail(ErrorCode::invalid_argument, "key 'precision' is missing, expected float16, bfloat16, int8 or uint8");
  }
  if (conversion.is_quantization() && !conversion.calibration) {
    fail(ErrorCode::invalid_argument, "'precision' {} needs a table of scales: give 'calibration'", to_string(conversion.to));
  }
  return conversion;
}

precision::Report convert(Graph& graph, const Conversion& conversion) {
  if (conversion.is_quantization()) {
    return precision::insert_quantization(graph, *conversion.calibration,
                                          {.activations = conversion.to,
                                           .symmetric = conversion.symmetric,
                                           .per_channel = conversion.per_channel,
                                           .keep_operators = conversion.keep_operators,
                                           .keep_nodes = conversion.keep_nodes});
  }
  return precision::convert_floats(graph, {.to = conversion.to,
                                           .keep_inputs = conversion.keep_inputs,
                                           .keep_outputs = conversion.keep_outputs,
                                           .keep_values = conversion.keep_values,
                                           .keep_operators = conversion.keep_operators,
                                           .keep_nodes = conversion.keep_nodes,
                                           .convert_operators = conversion.convert_operators,
                                           .in_region = {},
                                           .ranges = conversion.calibration ? &*conversion.calibration : nullptr});
}

nlohmann::json json_of(const precision::Report& report) {
  nlohmann::json kept = nlohmann::json::array();
  for (const precision::KeptNode& node : report.kept) kept.push_back({{"node", node.node}, {"operator", node.op}, {"reason", node.reason}});
  return {{"converted", report.converted},
          {"kept", std::move(kept)},
          {"added_nodes", report.added_nodes},
          {"constants", report.constants},
          {"unused", report.unused}};
}

nlohmann::json convert_model(const std::string& from, const std::string& to, const Conversion& conversion) {
  std::error_code ignored;
  if (std::filesystem::equivalent(as_path(from), as_path(to), ignored)) {
    fail(ErrorCode::invalid_argument, "'{}' would be written over while it is read: give the copy another name", to);
  }
  Model model = onnx::read_model(from);
  Graph& graph = *model.graph;
  turn_shapes_into_hints(graph);
  infer_types(graph);
  const size_t before = graph.constant_bytes();
  nlohmann::json report = json_of(convert(graph, conversion));
  report["precision"] = to_string(conversion.to);
  report["weight_bytes"] = {{"before", before}, {"after", graph.constant_bytes()}};
  onnx::write_model_file(model, to, onnx::fits_in_a_message(graph) ? static_cast<size_t>(-1) : kExternalBytes);
  return report;
}

}  // namespace

}  // namespace rh::capi

OrtStatus* ORT_API_CALL RhConvertModel(const ORTCHAR_T* from, const ORTCHAR_T* to, const char* const* keys, const char* const* values,
                                       size_t count, OrtAllocator* allocator, char** json) {
  using namespace rh::capi;
  return guard([&] {
    char*& out = checked(json, "json");
    OrtAllocator& strings = checked(allocator, "allocator");
    const Conversion conversion = read_keys(checked_array(keys, count, "keys"), checked_array(values, count, "values"), count);
    const nlohmann::json report = convert_model(rh::utf8(&checked(from, "from")), rh::utf8(&checked(to, "to")), conversion);
    out = rh::abi::copy_string(strings, report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}
