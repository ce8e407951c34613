#include "providers/kit/regions/regions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace rh::kit {

namespace {

/// Groups of nodes, of which each is a region or a single node that is not supported, and the edges between them.
class Groups {
 public:
  Groups(const Graph& graph, FunctionRef<bool(NodeId)> is_supported, const std::set<std::pair<NodeId, NodeId>>& borders)
      : graph_(graph),
        borders_(borders),
        order_(graph.topological_order()),
        parent_(static_cast<size_t>(graph.node_slots())),
        supported_(parent_.size()) {
    std::iota(parent_.begin(), parent_.end(), NodeId{0});
    for (NodeId id : order_) supported_[at(id)] = is_supported(id);
    join_levels();
    collect_edges();
  }

  // Joins neighbours while no path leads from one to the other by way of a third. That third may join one of them, so they are asked again.
  void join_neighbours() {
    bool changed = true;
    while (std::exchange(changed, false)) {
      for (NodeId id : order_) {
        for_each_consumer(id, [&](NodeId consumer) {
          const NodeId from = group_of(id), to = group_of(consumer);
          if (from == to || !supported_[at(id)] || !supported_[at(consumer)] || has_border(from, to) || leads_around(from, to)) return;
          join(from, to);
          changed = true;
        });
      }
    }
  }

  std::vector<std::vector<NodeId>> regions() {
    std::vector<std::vector<NodeId>> found;
    std::map<NodeId, size_t> places;
    for (NodeId id : order_) {
      if (!supported_[at(id)]) continue;
      const auto [place, is_new] = places.emplace(group_of(id), found.size());
      if (is_new) found.emplace_back();
      found[place->second].push_back(id);
    }
    return found;
  }

 private:
  static size_t at(NodeId id) { return static_cast<size_t>(id); }

  template <typename Visit>
  void for_each_consumer(NodeId id, Visit&& visit) const {
    for (ValueId output : graph_.node(id).outputs) {
      if (output == kNoValue) continue;
      for (NodeId consumer : graph_.value(output).consumers) visit(consumer);
    }
  }

  NodeId group_of(NodeId id) {
    while (parent_[at(id)] != id) id = parent_[at(id)] = parent_[at(parent_[at(id)])];
    return id;
  }

  // The level of a node is how often a path to it has gone from supported nodes to others, or over a border. Neighbours of one level can
  // always be joined: a path that leaves them has a higher level when it comes back.
  void join_levels() {
    std::vector<int> level(parent_.size(), 0);
    for (NodeId id : order_) {
      for_each_consumer(id, [&](NodeId consumer) {
        const bool leaves = supported_[at(id)] && (!supported_[at(consumer)] || borders_.contains({id, consumer}));
        const int least = level[at(id)] + (leaves ? 1 : 0);
        level[at(consumer)] = std::max(level[at(consumer)], least);
      });
    }
    for (NodeId id : order_) {
      for_each_consumer(id, [&](NodeId consumer) {
        if (supported_[at(id)] && supported_[at(consumer)] && level[at(id)] == level[at(consumer)]) {
          parent_[at(group_of(consumer))] = group_of(id);
        }
      });
    }
  }

  void collect_edges() {
    for (NodeId id : order_) {
      for_each_consumer(id, [&](NodeId consumer) {
        if (group_of(id) != group_of(consumer)) next_[group_of(id)].insert(group_of(consumer));
      });
    }
  }

  bool has_border(NodeId from, NodeId to) {
    return std::ranges::any_of(borders_,
                               [&](const auto& border) { return group_of(border.first) == from && group_of(border.second) == to; });
  }

  bool leads_around(NodeId from, NodeId to) {
    std::set<NodeId> seen;
    std::vector<NodeId> pending;
    for (NodeId group : next_[from]) {
      if (group != to && seen.insert(group).second) pending.push_back(group);
    }
    while (!pending.empty()) {
      const NodeId group = pending.back();
      pending.pop_back();
      if (group == to) return true;
      for (NodeId after : next_[group]) {
        if (seen.insert(after).second) pending.push_back(after);
      }
    }
    return false;
  }

  void join(NodeId from, NodeId to) {
    std::set<NodeId> after = std::move(next_[to]);
    next_.erase(to);
    next_[from].merge(after);
    next_[from].erase(to);
    parent_[at(to)] = from;
    for (auto& [group, targets] : next_) {
      if (targets.erase(to) > 0 && group != from) targets.insert(from);
    }
  }

  const Graph& graph_;
  const std::set<std::pair<NodeId, NodeId>>& borders_;
  std::vector<NodeId> order_;
  std::vector<NodeId> parent_;  // by node: another of its group; itself where it stands for the group
  std::vector<bool> supported_;
  std::map<NodeId, std::set<NodeId>> next_;  // by group: those that take from it
};

}  // namespace

std::vector<std::vector<NodeId>> convex_regions(const Graph& graph, FunctionRef<bool(NodeId)> is_supported,
                                                const std::set<std::pair<NodeId, NodeId>>& borders) {
  Groups groups(graph, is_supported, borders);
  groups.join_neighbours();
  return groups.regions();
}

}  // namespace rh::kit
