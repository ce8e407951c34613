#pragma once

#include <span>

#include "graph/graph.h"

namespace rh {

/// Whether first input and output are tensors of a known rank from 3 up, nobody uses other outputs, and what the node says of its
/// dimensions can follow them.
bool can_be_channels_last(const Graph& graph, const Node& node);

/// Moves nodes for which that holds to the domain ops::kChannelsLastDomain: their first input and output have the channels last there
/// (those that say `channels_last` have it so already), and FusedConv is called Conv, which has its attributes there.
/// Transpose nodes stand around them, but between those that follow each other directly or by way of element-wise nodes of `movable`.
void make_channels_last(Graph& graph, std::span<const NodeId> nodes, std::span<const NodeId> movable);

}  // namespace rh
