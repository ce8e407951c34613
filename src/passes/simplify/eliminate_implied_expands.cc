// Pattern: an operator that broadcasts, such as Add, Where or Less, of what Expand gives.
// Replacement: the operator of the Expand's input.
// Not: where no other input has all dimensions of the result; before opset 8.

#include <algorithm>
#include <array>
#include <vector>

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kAllBroadcastOpset = 8;  // from which on all of these broadcast as numpy does

bool broadcasts(const Node& node) {
  static constexpr std::array<std::string_view, 14> kOperators = {
      "Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean", "Where", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"};
  return node.domain.empty() && node.opset >= kAllBroadcastOpset && std::ranges::find(kOperators, node.op_type) != kOperators.end();
}

/// Whether an input other than `repeated` and those left out has all the dimensions of the output.
bool is_whole_without(const Graph& graph, const Node& node, ValueId repeated, const std::vector<bool>& left_out) {
  const TensorType& result = tensor_type(graph, node.outputs[0]);
  for (size_t i = 0; i < node.inputs.size() && result.has_rank(); ++i) {
    const TensorType& type = tensor_type(graph, node.inputs[i]);
    if (!left_out[i] && node.inputs[i] != repeated && type.has_rank() && *type.dims == *result.dims) return true;
  }
  return false;
}

}  // namespace

Edit eliminate_implied_expands(const Graph& graph, PassContext& context) {
  Rewrite rewrite(graph);
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    std::vector<bool> left_out(node.inputs.size(), false);
    for (size_t i = 0; broadcasts(node) && i < node.inputs.size(); ++i) {
      const Node* expand = graph.producer(node.inputs[i]);
      if (!expand || !is_op(*expand, "Expand")) continue;
      const TensorType &type = tensor_type(graph, expand->inputs[0]), &result = tensor_type(graph, node.outputs[0]);
      const bool fits = type.has_rank() && result.has_rank() && type.dims->size() <= result.dims->size();
      left_out[i] = fits && is_whole_without(graph, node, node.inputs[i], left_out) && context.admit();
      if (left_out[i]) rewrite.edit().set_input(id, i, rewrite.current(expand->inputs[0]));
    }
  }
  return rewrite.take();
}

}  // namespace rh::passes
