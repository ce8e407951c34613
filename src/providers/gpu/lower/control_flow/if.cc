#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/known_numbers.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

// What a branch has is seen as if it stood in the node's place, where it will stand once the condition is known (plan/known_branches.h).
kit::Support supports_if(const NodeView& node) {
  kit::Support refusal;
  if (!follows_on_host(node.graph(), node.node().inputs[0])) {
    return kit::refuse(RhRefusalCode_SHAPE, "its condition is no arithmetic that the host follows");
  }
  Graph::for_each_subgraph(node.node(), [&](const Graph& branch) {
    for (const NodeId id : branch.topological_order()) {
      if (refusal) return;
      refusal = supports_node(NodeView(branch, branch.node(id)));
      if (refusal) refusal->reason = fmt::format("of a branch, node '{}': {}", branch.node(id).display_name(), refusal->reason);
    }
  });
  return refusal;
}

void lower_if(const NodeView& node, Lowering&) { node.fail("the condition is not known before the run"); }

}  // namespace rh::gpu
