// Pattern: a Mul by what a Div makes of 1 and a value, and nothing else takes.
// Replacement: a Div by the value.
// Not: integers; a 1 of more dimensions than the value.

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

/// The Div that gives one of the Mul's inputs for nobody else, with 1 as its dividend; null where there is none.
const Node* reciprocal_at(const Graph& graph, const Node& mul, size_t side) {
  const Node* div = graph.producer(mul.inputs[side]);
  if (!div || !is_op(*div, "Div") || div->opset < kBroadcastOpset || only_user(graph, *div) != &mul) return nullptr;
  if (constant_number(graph, div->inputs[0]) != 1) return nullptr;
  const TensorType &one = tensor_type(graph, div->inputs[0]), &divisor = tensor_type(graph, div->inputs[1]);
  return is_floating(divisor.dtype) && one.has_rank() && divisor.has_rank() && one.rank() <= divisor.rank() ? div : nullptr;
}

}  // namespace

Edit merge_reciprocal_products(const Graph& graph, PassContext& context) {
  Rewrite rewrite(graph);
  for (NodeId id : graph.topological_order()) {
    const Node& mul = graph.node(id);
    if (!is_op(mul, "Mul") || mul.opset < kBroadcastOpset) continue;
    for (const size_t side : {1u, 0u}) {
      const Node* div = reciprocal_at(graph, mul, side);
      if (!div || rewrite.is_removed(div->id)) continue;
      if (!context.admit()) break;
      const ValueId dividend = rewrite.current(mul.inputs[1 - side]), divisor = rewrite.current(div->inputs[1]);
      rewrite.replace_nodes(part_of(mul, true, "Div", {dividend, divisor}), mul, {div->id, mul.id});
      break;
    }
  }
  return rewrite.take();
}

}  // namespace rh::passes
