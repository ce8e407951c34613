#include "session/constant_evaluator.h"

#include "base/file.h"
#include "providers/cpu/kernel.h"

namespace rh {

std::vector<Value> CpuConstantEvaluator::evaluate(const Graph& graph, const Node& node, std::span<const Value> inputs, size_t max_bytes) {
  bool has_subgraph = false;
  Graph::for_each_subgraph(node, [&](const Graph&) { has_subgraph = true; });
  if (has_subgraph || !cpu::why_unsupported(NodeView(graph, node)).empty()) return {};
  std::vector<Value> aligned(inputs.begin(), inputs.end());
  for (Value& value : aligned) {
    if (value.is_tensor()) value = value.tensor().aligned();
  }
  std::vector<Value> results = cpu::evaluate_node(graph, node, aligned, parallel_, max_bytes);
  // What is made of weights mostly takes their place: pages of the file leave the process.
  for (const Value& value : inputs) {
    if (value.is_tensor()) forget_mapped_pages(value.tensor().raw(), value.tensor().bytes());
  }
  return results;
}

}  // namespace rh
