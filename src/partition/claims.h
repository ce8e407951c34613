#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"
#include "providers/provider.h"

namespace rh {

/// The claims on one graph that were taken so far.
class Claims {
 public:
  explicit Claims(const Graph& graph);

  /// The graph has more or fewer nodes than before, none of which is taken.
  void follow_graph() { owner_.resize(static_cast<size_t>(graph_.node_slots()), kFree); }

  bool is_taken(NodeId node) const { return owner_[static_cast<size_t>(node)] != kFree; }
  /// Takes a claim. Throws Error{ep_fail} naming the provider where it names a node that the graph does not have, the same node twice, a
  /// node that this provider claimed before, or nodes that cannot be one unit: a path leads out of it and back in, directly or by way of
  /// other units.
  void take(const Claim& claim, std::string_view provider);

 private:
  static constexpr int32_t kFree = -1, kSingle = -2;
  void check_nodes(const Claim& claim, std::string_view provider) const;
  void check_order(const Claim& claim, int32_t unit, std::string_view provider);
  void follow(NodeId node, std::vector<NodeId>& pending) const;

  const Graph& graph_;
  std::vector<int32_t> owner_;  ///< by node: its unit
  std::vector<std::vector<NodeId>> units_;
};

}  // namespace rh
