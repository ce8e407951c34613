#include "providers/gpu/plan/region_passes.h"

#include <algorithm>

#include "passes/driver/driver.h"
#include "providers/gpu/lower/operators.h"

namespace rh {

// Of passes/simplify and passes/recognise, in the order of passes/pass_list.inc.
#define RH_GPU_PASSES(X)             \
  X(eliminate_identities)            \
  X(merge_adjacent_views)            \
  X(eliminate_implied_expands)       \
  X(fold_shape_arithmetic)           \
  X(eliminate_common_subexpressions) \
  X(eliminate_dead_nodes)            \
  X(recognise_activations)           \
  X(recognise_normalizations)        \
  X(recognise_group_normalizations)  \
  X(merge_score_masks)               \
  X(recognise_attention)

namespace passes {
#define RH_GPU_PASS(name) Edit name(const Graph& graph, PassContext& context);
RH_GPU_PASSES(RH_GPU_PASS)
#undef RH_GPU_PASS
}  // namespace passes

namespace gpu {

namespace {

constexpr Pass kPasses[] = {
#define RH_GPU_PASS(name) {#name, PassLevel::basic, passes::name, nullptr},
    RH_GPU_PASSES(RH_GPU_PASS)
#undef RH_GPU_PASS
};

// By its row alone: that sizes follow from those of the inputs was seen when the region was claimed.
bool is_supported(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Operator* row = find_operator(node.domain, node.op_type);
  return row && !row->supports(NodeView(graph, node));
}

}  // namespace

std::shared_ptr<Graph> recognised(const Graph& region) {
  auto graph = region.clone();
  try {
    run_passes(*graph, kPasses);
    const std::vector<NodeId> nodes = graph->nodes();
    if (std::ranges::all_of(nodes, [&](NodeId id) { return is_supported(*graph, id); })) return graph;
  } catch (const Error&) {  // a region is compiled as it is where a pass does not take it
  }
  return region.clone();
}

}  // namespace gpu

}  // namespace rh
