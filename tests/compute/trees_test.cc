#include "compute/trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace rh::compute {
namespace {

enum class Kind { leq, less, leq_and_contrary, less_and_contrary };
enum class Nan { fails, holds, mixed };

template <typename T>
struct Forest {
  using Node = typename Trees<T>::Node;
  using Test = typename Trees<T>::Test;
  std::vector<Node> nodes;
  std::vector<typename Trees<T>::Leaf> leaves;
  std::vector<typename Trees<T>::Weight> weights;
  std::vector<int32_t> roots;
  std::mt19937 random{7};

  Test test(Kind kind) {
    const bool contrary = random() % 2 == 0 && (kind == Kind::leq_and_contrary || kind == Kind::less_and_contrary);
    if (kind == Kind::leq || kind == Kind::leq_and_contrary) return contrary ? Test::gt : Test::leq;
    return contrary ? Test::gte : Test::lt;
  }

  /// A tree that is deep on one side and shallow on others. Written as children are.
  int32_t grow(int depth, Kind kind, Nan nan, int most_weights, bool nan_splits) {
    if (depth == 0 || (depth < 20 && random() % 3 == 0)) {
      const auto count = static_cast<int32_t>(most_weights == 1 ? 1 : random() % static_cast<unsigned>(most_weights + 1));
      leaves.push_back({static_cast<int32_t>(weights.size()), count});
      for (int32_t w = 0; w < count; ++w) weights.push_back({static_cast<int32_t>(random() % 3), static_cast<double>(random() % 100) / 8});
      return ~static_cast<int32_t>(leaves.size() - 1);
    }
    const auto at = static_cast<int32_t>(nodes.size());
    const bool holds = nan == Nan::holds || (nan == Nan::mixed && random() % 2 == 0);
    const T split = nan_splits && random() % 8 == 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(random() % 9) - 4;
    nodes.push_back({split, static_cast<int32_t>(random() % 5), 0, 0, test(kind), holds, -1});
    const int32_t when_true = grow(depth - 1, kind, nan, most_weights, nan_splits);
    const int32_t when_false = grow(std::max(0, depth - 1 - static_cast<int>(random() % 4)), kind, nan, most_weights, nan_splits);
    nodes[static_cast<size_t>(at)].when_true = when_true;
    nodes[static_cast<size_t>(at)].when_false = when_false;
    return at;
  }

  /// What a walk from node to node gives.
  void add(const T* row, double* totals) const {
    for (int32_t at : roots) {
      while (at >= 0) {
        const Node& node = nodes[static_cast<size_t>(at)];
        const T x = row[node.feature];
        const bool holds = node.test == Test::leq  ? x <= node.split
                           : node.test == Test::lt ? x < node.split
                           : node.test == Test::gt ? x > node.split
                                                   : x >= node.split;
        at = holds || (node.missing_is_true && std::isnan(x)) ? node.when_true : node.when_false;
      }
      const auto& leaf = leaves[static_cast<size_t>(~at)];
      for (int32_t w = leaf.first; w < leaf.first + leaf.count; ++w) {
        totals[weights[static_cast<size_t>(w)].target] += weights[static_cast<size_t>(w)].value;
      }
    }
  }
};

template <typename T>
void check(Kind kind, Nan nan, int most_weights, bool nan_splits) {
  Forest<T> forest;
  for (int tree = 0; tree < 13; ++tree) forest.roots.push_back(forest.grow(tree % 24, kind, nan, most_weights, nan_splits));
  const Trees<T> trees(forest.nodes, forest.leaves, forest.weights, forest.roots, {}, 3);
  for (const int64_t rows : {0, 1, 2, 3, 5, 7, 8, 9, 12, 16, 21, 130, 300}) {
    std::vector<T> x(static_cast<size_t>(rows * 5 + 1));
    for (T& value : x) {
      const unsigned draw = static_cast<unsigned>(forest.random());
      value = draw % 7 == 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(draw % 11) - 5;
    }
    std::vector<double> totals(static_cast<size_t>(rows * 3 + 1)), expected(totals.size());
    const auto reached = std::make_unique<bool[]>(totals.size());
    for (int64_t i = 0; i < rows; ++i) forest.add(x.data() + 5 * i, expected.data() + 3 * i);
    trees.run(x.data(), rows, 5, Trees<T>::Aggregate::sum, totals.data(), reached.get(), Parallel());
    ASSERT_EQ(totals, expected) << rows << " rows";
  }
}

TEST(Trees, WalksSideBySideGiveWhatOneWalkGives) {
  for (const Kind kind : {Kind::leq, Kind::less, Kind::leq_and_contrary, Kind::less_and_contrary}) {
    for (const Nan nan : {Nan::fails, Nan::holds, Nan::mixed}) {
      for (const int most_weights : {1, 2}) {
        for (const bool nan_splits : {false, true}) {
          SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << static_cast<int>(nan) << most_weights << nan_splits);
          check<float>(kind, nan, most_weights, nan_splits);
          check<double>(kind, nan, most_weights, nan_splits);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rh::compute
