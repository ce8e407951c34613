#include "finite_check.h"

#include <cstdio>

#include "print.h"

namespace rh::cli {

namespace {

nlohmann::json describe(const char* name, const Contents& tensor, const Range& range) {
  nlohmann::json result = to_json(range);
  result.update({{"name", name}, {"type", element_name(tensor.type)}, {"shape", tensor.shape}});
  return result;
}

std::string range_text(const nlohmann::json& d) {
  if (d.contains("packed")) return d["name"].get<std::string>() + ": a constant that its kernel has packed";
  std::string text = d["name"].get<std::string>() + ": " + d["type"].get<std::string>() + shape_text(d["shape"]);
  if (d.contains("min")) text += "  min " + number_text(d["min"]) + "  max " + number_text(d["max"]) + "  mean " + number_text(d["mean"]);
  if (d["nan"] != 0) text += "  NaN: " + d["nan"].dump();
  if (d["infinite"] != 0) text += "  infinite: " + d["infinite"].dump();
  return text;
}

}  // namespace

nlohmann::json originals_of(const RhNodeRun& node) {
  nlohmann::json originals = nlohmann::json::array();
  for (size_t i = 0; i < node.original_count; ++i) {
    originals.push_back({{"name", node.originals[i]}, {"operator", node.original_ops[i]}});
  }
  return originals;
}

std::string originals_text(const nlohmann::json& originals) {
  std::string text;
  for (const auto& original : originals) {
    text += (text.empty() ? "" : ", ") + original["name"].get<std::string>() + " (" + original["operator"].get<std::string>() + ")";
  }
  return text;
}

FiniteCheck::FiniteCheck(const std::vector<NamedValue>& inputs) {
  for (const NamedValue& input : inputs) {
    const Seen* seen = look(input.first.c_str(), input.second);
    if (seen && !seen->range.is_finite()) bad_inputs_.push_back(input.first);
  }
}

const FiniteCheck::Seen* FiniteCheck::look(const char* name, const OrtValue* value) {
  Contents tensor = contents_of(value);
  if (tensor.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) return nullptr;
  const Range range = range_of(tensor);
  tensor.bytes = {};
  return &(seen_[name] = {std::move(tensor), range});
}

void FiniteCheck::visit(const RhNodeRun& node) {
  ++nodes_;
  bool nan_before = false, odd_before = false;
  nlohmann::json inputs = nlohmann::json::array();
  for (size_t i = 0; i < node.input_count; ++i) {
    const char* name = node.input_names[i];
    if (!*name) continue;
    const auto known = seen_.find(name);
    const Seen* seen = known != seen_.end() ? &known->second : look(name, node.inputs[i]);
    if (seen) {
      nan_before |= seen->range.nan > 0;
      odd_before |= !seen->range.is_finite();
      inputs.push_back(describe(name, seen->tensor, seen->range));
    } else if (!node.inputs[i]) {
      inputs.push_back({{"name", name}, {"packed", true}});
    }
  }
  for (size_t i = 0; i < node.output_count; ++i) {
    if (!node.outputs[i]) continue;
    const Seen* seen = look(node.output_names[i], node.outputs[i]);
    if (!seen || !((seen->range.nan > 0 && !nan_before) || (!seen->range.is_finite() && !odd_before))) continue;
    sources_.push_back({{"node", node.name},
                        {"operator", node.op_type},
                        {"originals", originals_of(node)},
                        {"output", describe(node.output_names[i], seen->tensor, seen->range)},
                        {"inputs", inputs}});
  }
}

nlohmann::json FiniteCheck::report() const {
  return {{"passed", passed()}, {"nodes", nodes_}, {"inputs", bad_inputs_}, {"sources", sources_}};
}

void FiniteCheck::print(const Globals& globals, const nlohmann::json& report) {
  if (report["passed"]) {
    std::printf("%s\n", styled(globals, Style::good, "every value of " + report["nodes"].dump() + " nodes is finite").c_str());
    return;
  }
  for (const auto& name : report["inputs"]) {
    std::printf("%s\n", styled(globals, Style::bad, "input '" + name.get<std::string>() + "' is not finite").c_str());
  }
  for (const auto& source : report["sources"]) {
    const std::string what = source["output"]["nan"] != 0 ? "NaN" : "infinity";
    const std::string node = source["node"].get<std::string>() + " (" + source["operator"].get<std::string>() + ")";
    std::printf("%s\n", styled(globals, Style::bad, what + " first made by node " + node).c_str());
    const std::string originals = originals_text(source["originals"]);
    if (!originals.empty() && originals != node) std::printf("  stands for  %s\n", originals.c_str());
    std::printf("  output  %s\n", range_text(source["output"]).c_str());
    for (const auto& input : source["inputs"]) std::printf("  input   %s\n", range_text(input).c_str());
  }
}

}  // namespace rh::cli
