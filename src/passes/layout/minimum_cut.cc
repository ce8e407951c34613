#include "passes/layout/minimum_cut.h"

#include <algorithm>

namespace rh::passes {

int MinimumCut::add_node() {
  edges_of_.emplace_back();
  return static_cast<int>(edges_of_.size()) - 1;
}

void MinimumCut::add_edge(int from, int to, int64_t capacity) {
  if (from == to || capacity <= 0) return;
  edges_of_[static_cast<size_t>(from)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, capacity});
  edges_of_[static_cast<size_t>(to)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, 0});
}

/// Steps from the source along edges that are not full; whether the sink is among what they reach.
bool MinimumCut::find_levels() {
  level_.assign(edges_of_.size(), -1);
  level_[kSource] = 0;
  std::vector<int> queue{kSource};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (int number : edges_of_[static_cast<size_t>(queue[i])]) {
      const Edge& edge = edges_[static_cast<size_t>(number)];
      if (edge.left == 0 || level_[static_cast<size_t>(edge.to)] >= 0) continue;
      level_[static_cast<size_t>(edge.to)] = level_[static_cast<size_t>(queue[i])] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[kSink] >= 0;
}

/// Fills one path that goes a level further with each edge; 0 where there is none left.
int64_t MinimumCut::push_along_path() {
  std::vector<int> path;
  int at = kSource;
  while (at != kSink) {
    std::vector<int>& edges = edges_of_[static_cast<size_t>(at)];
    size_t& next = next_[static_cast<size_t>(at)];
    const auto leads_on = [&](int number) {
      const Edge& edge = edges_[static_cast<size_t>(number)];
      return edge.left > 0 && level_[static_cast<size_t>(edge.to)] == level_[static_cast<size_t>(at)] + 1;
    };
    while (next < edges.size() && !leads_on(edges[next])) ++next;
    if (next < edges.size()) {
      path.push_back(edges[next]);
      at = edges_[static_cast<size_t>(edges[next])].to;
    } else if (path.empty()) {
      return 0;
    } else {
      at = edges_[static_cast<size_t>(path.back() ^ 1)].to;
      path.pop_back();
      ++next_[static_cast<size_t>(at)];
    }
  }
  int64_t amount = kUnbounded;
  for (int number : path) amount = std::min(amount, edges_[static_cast<size_t>(number)].left);
  for (int number : path) {
    edges_[static_cast<size_t>(number)].left -= amount;
    edges_[static_cast<size_t>(number ^ 1)].left += amount;
  }
  return amount;
}

/// By blocking flows (Dinic, 1970).
std::vector<bool> MinimumCut::solve() {
  while (find_levels()) {
    next_.assign(edges_of_.size(), 0);
    while (push_along_path() > 0) {
    }
  }
  std::vector<bool> on_sink_side;
  for (int level : level_) on_sink_side.push_back(level < 0);
  return on_sink_side;
}

}  // namespace rh::passes
