#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"

namespace rh::compute {

/// Decision trees laid out for walking: the nodes of all trees in one array, a tree's nodes together in the order of a walk that visits
/// the branch taken when a test fails first. Where all tests are of one kind, as in forests that are trained, several walks (of the rows of
/// a batch through one tree, or of one row through several trees) go on side by side without a branch. T is the type in which features
/// are compared with splits: float or double.
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
  /// A node of side-by-side walks. The step after it is `child` where the test fails, the one behind that where it holds: that of a leaf,
  /// of which no walk leaves, is the leaf.
  struct Step {
    T split;
    uint32_t feature;  ///< the highest bit: NaN holds
    int32_t child;
  };
  enum class Missing : uint8_t { fails, holds, mixed };
  static constexpr int kWalks = 8;

  void lay_out(const std::vector<Node>& nodes, const std::vector<int32_t>& roots);
  template <bool kOnlyLeq>
  int32_t leaf_of(int32_t at, const T* row) const;
  void add_rows(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const;
  void add_leaf(int32_t leaf, Aggregate aggregate, double* totals, bool* reached) const;
  void add_step_leaf(int32_t step, Aggregate aggregate, double* totals, bool* reached) const;
  static void add_weight(const Weight& weight, Aggregate aggregate, double* totals, bool* reached);

  void lay_out_steps();
  struct Pending {
    int32_t step, child, depth;  ///< the node or leaf that the step is
  };
  void fill_step(const Pending& filled, std::vector<Pending>& pending);
  void settle_missing();
  void settle_leaves();
  template <bool kLess, Missing kMissing>
  void walk_side_by_side(int32_t depth, std::array<int32_t, kWalks>& at, const std::array<const T*, kWalks>& rows) const;
  template <bool kLess, Missing kMissing>
  void add_side_by_side(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const;
  void add(const T* x, int64_t rows, int64_t features, Aggregate aggregate, double* totals, bool* reached) const;

  std::vector<Node> nodes_;
  std::vector<Leaf> leaves_;
  std::vector<Weight> weights_;
  std::vector<int32_t> roots_;
  std::vector<std::vector<double>> member_sets_;
  int64_t targets_;
  bool only_leq_ = true;

  std::vector<Step> steps_;           ///< none where the tests are of several kinds
  std::vector<int32_t> step_leaves_;  ///< of each step: the leaf that it is, or its weight where each leaf has one
  bool single_weights_ = false;
  std::vector<int32_t> step_roots_, step_depths_;
  bool steps_less_ = false;  ///< holds: value < split, else value <= split
  Missing steps_missing_ = Missing::fails;
};

}  // namespace rh::compute
