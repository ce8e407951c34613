// Pattern: a Cast of what another Cast gives to it alone.
// Replacement: one Cast, or nothing where the types at both ends are one; the type between rounds nothing any more.
// Not: strings.

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

bool is_number(const Graph& graph, ValueId id) {
  const DType dtype = tensor_type(graph, id).dtype;
  return dtype != DType::undefined && dtype != DType::string;
}

}  // namespace

Edit eliminate_cast_chains(const Graph& graph, PassContext& context) {
  Rewrite rewrite(graph);
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (!is_op(node, "Cast") || !is_number(graph, node.inputs[0])) continue;
    const Node* before = graph.producer(node.inputs[0]);
    if (!before || !is_op(*before, "Cast") || only_user(graph, *before) != &node || !is_number(graph, before->inputs[0])) continue;
    if (rewrite.is_removed(before->id)) continue;
    const ValueId source = rewrite.current(before->inputs[0]);
    if (tensor_type(graph, before->inputs[0]).dtype == tensor_type(graph, node.outputs[0]).dtype) {
      if (rewrite.can_replace(node.outputs[0], source) && context.admit()) rewrite.replace_node(node, source);
    } else if (context.admit()) {
      Node made = part_of(node, true, "Cast", {source}, node.attributes);
      rewrite.replace_nodes(std::move(made), node, {before->id, id});
    }
  }
  return rewrite.take();
}

}  // namespace rh::passes
