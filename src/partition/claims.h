#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "providers/provider.h"

namespace rh {

/// Why a claim cannot be taken.
struct ClaimFault {
  RefusalCode code = RefusalCode::unit;
  std::string reason;
  NodeId node = kNoNode;  ///< where it is seen
};

/// The claims on one graph that were taken so far.
class Claims {
 public:
  explicit Claims(const Graph& graph);

  /// The graph has more or fewer nodes than before, none of which is taken.
  void follow_graph() { owner_.resize(static_cast<size_t>(graph_.node_slots()), kFree); }

  /// The node has a provider, or is to be the last one's, since before these claims.
  void keep(NodeId node) { owner_[static_cast<size_t>(node)] = kKept; }
  bool is_kept(NodeId node) const { return owner_[static_cast<size_t>(node)] == kKept; }
  bool is_taken(NodeId node) const { return owner_[static_cast<size_t>(node)] != kFree; }
  /// Takes a claim, or says why it cannot be: it names a node that is taken, or nodes that cannot be one unit, since a path leads out of
  /// it and back in, directly or by way of other units. Throws Error{ep_fail} naming the provider where it names no node, one that the
  /// graph does not have, the same one twice, or several for one kernel.
  std::optional<ClaimFault> take(const Claim& claim, std::string_view provider);

 private:
  static constexpr int32_t kFree = -1, kSingle = -2, kKept = -3;
  void check_nodes(const Claim& claim, std::string_view provider) const;
  NodeId reentry(const Claim& claim, int32_t unit) const;
  void follow(NodeId node, std::vector<NodeId>& pending) const;

  const Graph& graph_;
  std::vector<int32_t> owner_;  ///< by node: its unit
  std::vector<std::vector<NodeId>> units_;
};

}  // namespace rh
