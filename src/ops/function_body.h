#pragma once

#include <vector>

#include "graph/graph.h"

namespace rh::ops {

/// Whether this is an operator of the standard that ONNX Runtime has no CPU kernel for and computes by the body that the standard gives:
/// HardSwish, Mish, Swish, CastLike. It shows that body to providers where none took the node.
bool runs_as_function(const Graph& graph, const Node& node);

/// Puts the body in the place of such a node: its last node gives the node's output. Returns the nodes of the body, which have no names, as
/// in ONNX Runtime; each stands for what the node stood for and, last, for itself, called by that.
std::vector<NodeId> expand_function(Graph& graph, NodeId id);

}  // namespace rh::ops
