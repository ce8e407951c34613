#pragma once

#include "graph/graph.h"

namespace rh {

/// Whether what a Resize says of its dimensions can follow them when channels come last: it is of a version that the domain has, it crops
/// nothing, and its scales and sizes are constants or for the axes that it names.
bool resize_can_follow(const Graph& graph, const Node& node);

/// Has scales, sizes and axes of such a node follow; dimension i becomes what was `axes[i]`.
void resize_follow(Graph& graph, NodeId id, const std::vector<int64_t>& axes);

}  // namespace rh
