#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "graph/graph.h"
#include "partition/assignment.h"
#include "providers/provider.h"

namespace rh {

/// Copies constants of a graph that lie at addresses of a file which their element types do not allow, once somebody reads them as
/// elements: a session has no copies for providers that take nothing. A constant that several graphs have is copied once.
class Alignment {
 public:
  /// Before the graph is placed: tables of rows and weights stay.
  void for_placement(Graph& graph);
  /// For the passes of a provider: tables of rows stay.
  void for_passes(Graph& graph);
  /// Once all nodes have providers, the CPU's the last: tables stay of which it alone takes rows, and constants of units whose provider
  /// reads any address. Sessions of one model share the copies.
  void for_kernels(Graph& graph, Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers);

 private:
  Tensor copy_of(const Tensor& tensor, bool is_shared);

  struct Copy {
    Tensor original;  ///< so that nothing else takes its address
    std::weak_ptr<const void> memory;
  };
  std::map<std::pair<const void*, size_t>, Copy> copies_;
};

}  // namespace rh
