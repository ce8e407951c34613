#pragma once

#include <unordered_set>

#include "passes/driver/rewrite.h"
#include "passes/layout/order_region.h"

namespace rh::passes {

/// Nodes of the region that are `turned` work in the order that they do not have; what others take comes through Transposes where it has
/// to. `nodes` are those of the graph in topological order.
void reorder_values(const Graph& graph, const std::vector<NodeId>& nodes, const OrderRegion& region,
                    const std::unordered_set<NodeId>& turned, Rewrite& rewrite);

}  // namespace rh::passes
