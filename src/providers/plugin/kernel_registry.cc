#include "providers/plugin/kernel_registry.h"

#include <algorithm>
#include <limits>

#include "abi/element_type.h"
#include "ops/channels_last.h"

OrtMemType OrtKernelDef::input_memory_type(size_t index) const {
  const auto at = input_memory.find(index);
  return at == input_memory.end() ? OrtMemTypeDefault : at->second;
}

OrtMemType OrtKernelDef::output_memory_type(size_t index) const {
  const auto at = output_memory.find(index);
  return at == output_memory.end() ? OrtMemTypeDefault : at->second;
}

namespace rh::plugin {

namespace {

std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

bool covers(const OrtKernelDef& def, int version) {
  return def.since_start == version ||
         (def.since_start < version && def.since_end != std::numeric_limits<int>::max() && def.since_end >= version);
}

bool is_one_of(const ValueType& type, const std::vector<const OrtDataType*>& types) {
  if (!type.is_tensor()) return false;
  const ONNXTensorElementDataType element = abi::to_element_type(type.tensor().dtype);
  return std::ranges::any_of(types, [&](const OrtDataType* allowed) { return allowed && allowed->element == element; });
}

/// Values of a node that a constraint speaks of: by type parameter or by formal name. Without a schema, the first input.
std::vector<ValueId> constrained(const std::string& name, const Node& node, const ops::OpSchema* schema) {
  std::vector<ValueId> values;
  const auto collect = [&](const std::vector<ValueId>& actual, auto port) {
    for (size_t i = 0; i < actual.size(); ++i) {
      const ops::Port* formal = (schema->*port)(static_cast<int>(i));
      if (actual[i] != kNoValue && formal && (formal->type == name || formal->name == name)) values.push_back(actual[i]);
    }
  };
  if (schema) {
    collect(node.inputs, &ops::OpSchema::input);
    collect(node.outputs, &ops::OpSchema::output);
  } else if (!node.inputs.empty() && node.inputs[0] != kNoValue) {
    values.push_back(node.inputs[0]);
  }
  return values;
}

std::string mismatch(const OrtKernelDef& def, const Graph& graph, const Node& node) {
  const ops::OpSchema* schema = ops::find_signature(node.domain, node.op_type, node.opset);
  for (const auto& [name, types] : def.types) {
    for (ValueId id : constrained(name, node, schema)) {
      const ValueType& type = graph.value(id).type;
      if (!is_one_of(type, types)) return fmt::format("its kernel of {} does not take {} for {}", node.op_text(), type.to_string(), name);
    }
  }
  return {};
}

}  // namespace

int since_version(const Node& node) {
  const ops::OpSchema* schema = ops::find_signature(node.domain, node.op_type, node.opset);
  return schema ? schema->since_version : node.opset;
}

KernelMatch find_kernel(const OrtKernelRegistry& registry, const Graph& graph, const Node& node) {
  KernelMatch match{nullptr, RefusalCode::op, fmt::format("it has no kernel for {}", node.op_text())};
  const int version = since_version(node);
  for (const auto& entry : registry.entries) {
    const OrtKernelDef& def = entry->def;
    if (def.op_type != node.op_type || plain_domain(def.domain) != plain_domain(node.domain)) continue;
    if (!covers(def, version)) {
      if (match.code != RefusalCode::op) continue;
      match.code = RefusalCode::opset;
      match.reason =
          fmt::format("its kernel of {} is for versions {} to {}, the node's is {}", node.op_type, def.since_start, def.since_end, version);
      continue;
    }
    std::string reason = mismatch(def, graph, node);
    if (reason.empty()) return {entry.get(), RefusalCode::op, {}};
    match.code = RefusalCode::type;
    match.reason = std::move(reason);
  }
  return match;
}

}  // namespace rh::plugin
