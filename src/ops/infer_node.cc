#include "ops/infer_node.h"

#include "ops/inference.h"

namespace rh {

std::vector<ValueType> infer_node(const Graph& graph, const Node& node, std::span<const ValueType> inputs) {
  std::vector<ValueType> types(node.outputs.size());
  bool has_subgraph = false;
  Graph::for_each_subgraph(node, [&](const Graph&) { has_subgraph = true; });
  if (has_subgraph) return types;
  Graph alone;
  alone.opset_imports = graph.opset_imports;
  Node copy = node;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != kNoValue) copy.inputs[i] = alone.add_value(graph.value(node.inputs[i]).name, inputs[i]);
  }
  for (ValueId& output : copy.outputs) {
    if (output != kNoValue) output = alone.add_value({});
  }
  const std::vector<ValueId> outputs = copy.outputs;
  alone.add_node(std::move(copy));
  infer_types(alone);
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o] != kNoValue) types[o] = alone.value(outputs[o]).type;
  }
  return types;
}

}  // namespace rh
