// Pattern: If with a constant condition.
// Replacement: the nodes of the branch that is taken, in the graph around it.
// Not: where the condition comes with the run, or the branch has other outputs than the node.

#include "passes/driver/body_copy.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

void inline_branch(const Graph& graph, Rewrite& rewrite, const Node& node, const Graph& branch) {
  BodyCopy copy(rewrite, branch);
  copy.add_nodes();
  for (size_t i = 0; i < node.outputs.size(); ++i) give_output(rewrite, graph, node, node.outputs[i], copy.outside(branch.outputs()[i]));
  rewrite.remove(node.id);
}

}  // namespace

Edit inline_constant_branches(const Graph& graph, PassContext& context) {
  Rewrite rewrite(graph);
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!is_op(node, "If") || node.inputs.size() != 1 || node.inputs[0] == kNoValue) continue;
    const Tensor* condition = graph.value(node.inputs[0]).constant_tensor();
    if (!condition || condition->dtype() != DType::boolean || condition->elements() != 1) continue;
    const Graph* branch = NodeView(graph, node).subgraph(*condition->data<bool>() ? "then_branch" : "else_branch");
    if (!branch || !branch->inputs().empty() || branch->outputs().size() != node.outputs.size() || !context.admit()) continue;
    inline_branch(graph, rewrite, node, *branch);
  }
  return rewrite.take();
}

}  // namespace rh::passes
