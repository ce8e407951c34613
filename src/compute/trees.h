#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"

namespace rh::compute {

/// Decision trees laid out for walking: the nodes of all trees in one array, a tree's nodes together in the order of a walk that visits
/// the branch taken when a test fails first. T is the type in which features are compared with splits: float or double.
template <typename T>
class Trees {
 public:
  enum class Test : uint8_t { leq, lt, gte, gt, eq, neq, member };

  struct Node {
    T split;
    int32_t feature;
    int32_t when_true, when_false;  ///< nodes where >= 0, else leaves: ~child
    Test test;
    bool missing_is_true;
    int32_t members;  ///< of Test::member: which of `member_sets`
  };
  struct Weight {
    int32_t target;
    double value;
  };
  struct Leaf {
    int32_t first, count;  ///< in `weights`
  };
  enum class Aggregate : uint8_t { sum, min, max };

  /// `roots` are written as children are. Every child, target and set must exist, and no node be reached twice.
  Trees(std::vector<Node> nodes, std::vector<Leaf> leaves, std::vector<Weight> weights, std::vector<int32_t> roots,
        std::vector<std::vector<double>> member_sets, int64_t targets);

  /// totals[rows, targets] = the weights of the leaves that a row of x [rows, features] reaches, joined over all trees. A target that no
  /// leaf reached has 0, and reached[row, target] is false.
  void run(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached, const Parallel& parallel) const;

 private:
  void lay_out(const std::vector<Node>& nodes, const std::vector<int32_t>& roots);
  template <bool kOnlyLeq>
  int32_t leaf_of(int32_t at, const T* row) const;
  void add_rows(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const;

  std::vector<Node> nodes_;
  std::vector<Leaf> leaves_;
  std::vector<Weight> weights_;
  std::vector<int32_t> roots_;
  std::vector<std::vector<double>> member_sets_;
  int64_t targets_;
  bool only_leq_ = true;
};

}  // namespace rh::compute
