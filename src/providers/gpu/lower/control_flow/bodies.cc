#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/known_loops.h"
#include "providers/gpu/plan/known_numbers.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

namespace {

// What a body has is seen as if it stood in the node's place, where it will stand once the region's sizes are known
// (plan/known_branches.h).
kit::Support supports_bodies(const NodeView& node) {
  kit::Support refusal;
  Graph::for_each_subgraph(node.node(), [&](const Graph& body) {
    for (const NodeId id : body.topological_order()) {
      if (refusal) return;
      refusal = supports_node(NodeView(body, body.node(id)));
      if (refusal) refusal->reason = fmt::format("of its body, node '{}': {}", body.node(id).display_name(), refusal->reason);
    }
  });
  return refusal;
}

}  // namespace

kit::Support supports_if(const NodeView& node) {
  if (!follows_on_host(node.graph(), node.node().inputs[0])) {
    return kit::refuse(RhRefusalCode_SHAPE, "its condition is no arithmetic that the host follows");
  }
  return supports_bodies(node);
}

void lower_if(const NodeView& node, Lowering&) { node.fail("the condition is not known before the run"); }

kit::Support supports_loop(const NodeView& node) {
  if (!known_trips(node.graph(), node.node())) {
    return kit::refuse(RhRefusalCode_SHAPE, "how often its body runs is no constant, or more than is unrolled");
  }
  return supports_bodies(node);
}

void lower_loop(const NodeView& node, Lowering&) { node.fail("how often the body runs is not known before the run"); }

}  // namespace rh::gpu
