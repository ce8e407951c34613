#include "partition/claims.h"

#include <algorithm>

namespace rh {

Claims::Claims(const Graph& graph) : graph_(graph), owner_(static_cast<size_t>(graph.node_slots()), kFree) {}

void Claims::check_nodes(const Claim& claim, std::string_view provider) const {
  if (claim.nodes.empty()) fail(ErrorCode::ep_fail, "{} claimed a unit without nodes", provider);
  std::vector<NodeId> sorted = claim.nodes;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Node* node = graph_.find_node(sorted[i]);
    if (!node) fail(ErrorCode::ep_fail, "{} claimed node {}, which the graph does not have", provider, sorted[i]);
    if (i > 0 && sorted[i] == sorted[i - 1]) {
      throw Error(ErrorCode::ep_fail, fmt::format("{} names this node twice in one claim", provider), node->where());
    }
  }
}

// The nodes that come right after `node`; those of a unit come together.
void Claims::follow(NodeId node, std::vector<NodeId>& pending) const {
  for (ValueId output : graph_.node(node).outputs) {
    if (output == kNoValue) continue;
    const auto& consumers = graph_.value(output).consumers;
    pending.insert(pending.end(), consumers.begin(), consumers.end());
  }
}

// A node of the unit to which a path leads from the unit by way of other nodes.
NodeId Claims::reentry(const Claim& claim, int32_t unit) const {
  std::vector<bool> seen(owner_.size(), false);
  std::vector<NodeId> pending;
  const auto outside = [&](NodeId id) { return owner_[static_cast<size_t>(id)] != unit; };
  for (NodeId id : claim.nodes) {
    std::vector<NodeId> next;
    follow(id, next);
    std::copy_if(next.begin(), next.end(), std::back_inserter(pending), outside);
  }
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (seen[static_cast<size_t>(id)]) continue;
    if (!outside(id)) return id;
    const int32_t other = owner_[static_cast<size_t>(id)];
    if (other >= 0) {
      for (NodeId member : units_[static_cast<size_t>(other)]) {
        seen[static_cast<size_t>(member)] = true;
        follow(member, pending);
      }
    } else {
      seen[static_cast<size_t>(id)] = true;
      follow(id, pending);
    }
  }
  return kNoNode;
}

std::optional<ClaimFault> Claims::take(const Claim& claim, std::string_view provider) {
  check_nodes(claim, provider);
  const auto taken = std::ranges::find_if(claim.nodes, [&](NodeId id) { return is_taken(id); });
  if (taken != claim.nodes.end()) {
    return ClaimFault{RefusalCode::claimed_earlier,
                      fmt::format("its claim includes node '{}', which an earlier claim has", graph_.node(*taken).display_name()), *taken};
  }
  if (!claim.compiled) {
    if (claim.nodes.size() != 1) fail(ErrorCode::ep_fail, "{} claimed {} nodes for one kernel", provider, claim.nodes.size());
    owner_[static_cast<size_t>(claim.nodes[0])] = kSingle;
    return {};
  }
  const auto unit = static_cast<int32_t>(units_.size());
  for (NodeId id : claim.nodes) owner_[static_cast<size_t>(id)] = unit;
  const NodeId back = reentry(claim, unit);
  if (back == kNoNode) {
    units_.push_back(claim.nodes);
    return {};
  }
  for (NodeId id : claim.nodes) owner_[static_cast<size_t>(id)] = kFree;
  return ClaimFault{RefusalCode::unit,
                    fmt::format("its claim of {} nodes cannot be one unit: a path leads from them out and back in to node '{}'",
                                claim.nodes.size(), graph_.node(back).display_name()),
                    back};
}

}  // namespace rh
