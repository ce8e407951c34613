#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"
#include "partition/assignment.h"

namespace rh {

/// A value that has to be in another memory than where it is made, and why.
struct CopyPlacement {
  std::string value;
  Device from, to;
  std::string cause;  ///< "node 'conv1' (Conv(11)) of XExecutionProvider takes it there"
};

/// Domain and operator of the nodes that copy a value to another memory.
inline constexpr char kCopyDomain[] = "roundhouse", kCopyOp[] = "Copy";

/// Decides where each value of an assigned graph and of its subgraphs lives, and adds a Copy node for each value and memory in which
/// somebody needs it and where it is not. Constants are copied here, once for each memory. An input of the graph that is used on one device
/// alone is expected there; outputs stay where they are made; inputs and outputs of subgraphs are on the host. Throws Error{ep_fail} where
/// no provider copies between two memories.
std::vector<CopyPlacement> place_copies(Graph& graph, Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers);

/// What copies from one memory to the other; null where nobody does.
DataTransfer* find_transfer(std::span<const std::shared_ptr<Provider>> providers, Device from, Device to);

/// The provider that has this device, -1 where none has.
int find_owner(std::span<const std::shared_ptr<Provider>> providers, Device device);

}  // namespace rh
