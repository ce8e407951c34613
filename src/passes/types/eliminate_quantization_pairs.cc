// Pattern: QuantizeLinear whose result nothing but DequantizeLinear takes, by the same constant numbers.
// Replacement: the value itself, which is no longer rounded there.
// Not: as long as another pass may still take one of the two; several scales; another type at the end.

#include <algorithm>

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

/// Whether the nodes are given the same constants for scale and zero point, one number each.
bool have_one_quantization(const Graph& graph, const Node& first, const Node& second) {
  const NodeView a(graph, first), b(graph, second);
  for (int input = 1; input <= 2; ++input) {
    const Tensor *x = a.constant_input(input), *y = b.constant_input(input);
    if (!x || !y || x->dtype() != y->dtype() || x->elements() != 1 || y->elements() != 1) return false;
    if (element_as_double(x->view(), 0) != element_as_double(y->view(), 0)) return false;
  }
  return true;
}

/// Whether nothing but DequantizeLinear takes the value.
bool is_only_dequantized(const Graph& graph, const GraphValue& value) {
  return !value.is_output && std::ranges::all_of(value.consumers, [&](NodeId id) { return is_op(graph.node(id), "DequantizeLinear"); });
}

}  // namespace

Edit eliminate_quantization_pairs(const Graph& graph, PassContext& context) {
  Rewrite rewrite(graph);
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (!is_op(node, "DequantizeLinear") || !is_only_output(graph, node)) continue;
    const Node* quantize = graph.producer(node.inputs[0]);
    if (!quantize || !is_op(*quantize, "QuantizeLinear") || !is_only_dequantized(graph, graph.value(node.inputs[0]))) continue;
    if (!have_one_quantization(graph, *quantize, node)) continue;
    if (tensor_type(graph, quantize->inputs[0]).dtype != tensor_type(graph, node.outputs[0]).dtype) continue;
    if (!context.is_settled()) break;
    const ValueId value = rewrite.current(quantize->inputs[0]);
    if (rewrite.can_replace(node.outputs[0], value) && context.admit()) rewrite.replace_node(node, value);
  }
  return rewrite.take();
}

}  // namespace rh::passes
