#pragma once

#include <set>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "graph/graph.h"

namespace rh::kit {

/// The nodes that are supported, as regions: connected, each in topological order, and such that no path leads out of one and back in, by
/// way of others too. None can be joined with a neighbour. `borders`: from a node to one that takes from it, of which each is in a region
/// of its own.
std::vector<std::vector<NodeId>> convex_regions(const Graph& graph, FunctionRef<bool(NodeId)> is_supported,
                                                const std::set<std::pair<NodeId, NodeId>>& borders = {});

}  // namespace rh::kit
