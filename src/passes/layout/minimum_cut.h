#pragma once

#include <cstdint>
#include <vector>

namespace rh::passes {

/// A directed graph whose edges have capacities, cut in two where that costs least.
class MinimumCut {
 public:
  static constexpr int kSource = 0, kSink = 1;
  static constexpr int64_t kUnbounded = int64_t{1} << 60;  ///< of an edge that must not be cut

  MinimumCut() : edges_of_(2) {}

  int add_node();
  /// An edge that is cut where `from` lies on the source's side and `to` on the sink's.
  void add_edge(int from, int to, int64_t capacity);
  /// For each node whether it lies on the sink's side. Of the cuts that cost least it is the one with the fewest nodes on the source's.
  std::vector<bool> solve();

 private:
  struct Edge {
    int to;
    int64_t left;
  };

  bool find_levels();
  int64_t push_along_path();

  std::vector<Edge> edges_;  ///< each beside its way back, which has the number with the last bit turned
  std::vector<std::vector<int>> edges_of_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace rh::passes
