#pragma once

#include <memory>
#include <string>

#include "graph/graph.h"
#include "providers/provider.h"

namespace rh {

/// Makes the nodes of a checked claim one node of domain `domain`, named `name`, and gives what it stands for. The new node has the highest
/// id of the graph. Its inputs are what the nodes take from outside, in the order of first use; its outputs what others take from them.
std::shared_ptr<Unit> fuse(Graph& graph, const Claim& claim, const std::string& domain, const std::string& name);

}  // namespace rh
