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
    if (is_taken(node->id)) throw Error(ErrorCode::ep_fail, fmt::format("{} claimed this node twice", provider), node->where());
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

void Claims::check_order(const Claim& claim, int32_t unit, std::string_view provider) {
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
    if (!outside(id)) {
      throw Error(ErrorCode::ep_fail,
                  fmt::format("{} claimed {} nodes as one unit, but a path leads from them out and back in to this one", provider,
                              claim.nodes.size()),
                  graph_.node(id).where());
    }
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
}

void Claims::take(const Claim& claim, std::string_view provider) {
  check_nodes(claim, provider);
  if (!claim.compiled) {
    if (claim.nodes.size() != 1) fail(ErrorCode::ep_fail, "{} claimed {} nodes for one kernel", provider, claim.nodes.size());
    owner_[static_cast<size_t>(claim.nodes[0])] = kSingle;
    return;
  }
  const int32_t unit = static_cast<int32_t>(units_.size());
  units_.push_back(claim.nodes);
  for (NodeId id : claim.nodes) owner_[static_cast<size_t>(id)] = unit;
  check_order(claim, unit, provider);
}

}  // namespace rh
