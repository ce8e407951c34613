#include "passes/layout/minimum_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace rh::passes {
namespace {

struct Edge {
  int from, to;
  int64_t capacity;
};

int64_t cost(const std::vector<Edge>& edges, const std::vector<bool>& sink_side) {
  int64_t all = 0;
  for (const Edge& edge : edges) {
    if (!sink_side[static_cast<size_t>(edge.from)] && sink_side[static_cast<size_t>(edge.to)]) all += edge.capacity;
  }
  return all;
}

std::vector<bool> solve(int nodes, const std::vector<Edge>& edges) {
  MinimumCut cut;
  for (int i = 2; i < nodes; ++i) EXPECT_EQ(cut.add_node(), i);
  for (const Edge& edge : edges) cut.add_edge(edge.from, edge.to, edge.capacity);
  return cut.solve();
}

TEST(MinimumCut, CutsTheCheapestEdges) {
  const struct {
    const char* what;
    int nodes;
    std::vector<Edge> edges;
    std::vector<bool> sink_side;
  } rows[] = {
      {"nothing to cut", 2, {}, {false, true}},
      {"one edge", 2, {{0, 1, 5}}, {false, true}},
      {"a chain", 4, {{0, 2, 5}, {2, 3, 2}, {3, 1, 4}}, {false, true, false, true}},
      {"what both ends want", 3, {{0, 2, 5}, {2, 1, 3}}, {false, true, false}},
      {"an edge that must stay", 4, {{0, 2, 3}, {2, 3, MinimumCut::kUnbounded}, {3, 1, 9}}, {false, true, true, true}},
      {"backwards costs nothing", 4, {{0, 2, 5}, {3, 2, 9}, {3, 1, 5}}, {false, true, false, true}},
      {"a way round", 4, {{0, 2, 9}, {0, 3, 1}, {2, 3, 1}, {3, 2, 1}, {2, 1, 1}, {3, 1, 9}}, {false, true, false, true}},
  };
  for (const auto& row : rows) EXPECT_EQ(solve(row.nodes, row.edges), row.sink_side) << row.what;
}

TEST(MinimumCut, CostsNoMoreThanAnyOtherCut) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int nodes = 2 + static_cast<int>(random() % 9);
    std::vector<Edge> edges;
    for (int i = 0; i < 3 * nodes; ++i)
      edges.push_back({static_cast<int>(random() % nodes), static_cast<int>(random() % nodes), static_cast<int64_t>(random() % 20)});
    const std::vector<bool> found = solve(nodes, edges);
    EXPECT_FALSE(found[MinimumCut::kSource]);
    EXPECT_TRUE(found[MinimumCut::kSink]);
    for (int sides = 0; sides < 1 << (nodes - 2); ++sides) {
      std::vector<bool> other{false, true};
      for (int i = 0; i < nodes - 2; ++i) other.push_back((sides >> i & 1) != 0);
      EXPECT_LE(cost(edges, found), cost(edges, other));
    }
  }
}

}  // namespace
}  // namespace rh::passes
