#include "ops/ml/tree_ensemble.h"

#include <algorithm>
#include <optional>
#include <span>

#include "compute/trees.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/post_transform.h"

namespace rh::cpu {

namespace {

template <typename T>
compute::Trees<T> flat_trees(const ops::TreeEnsemble& op) {
  using Trees = compute::Trees<T>;
  std::vector<typename Trees::Node> nodes;
  for (const auto& node : op.nodes) {
    nodes.push_back({static_cast<T>(node.split), static_cast<int32_t>(node.feature), node.when_true, node.when_false,
                     static_cast<typename Trees::Test>(node.mode), node.missing_is_true, node.members});
  }
  std::vector<typename Trees::Leaf> leaves;
  for (const auto& leaf : op.leaves) leaves.push_back({leaf.first, leaf.count});
  std::vector<typename Trees::Weight> weights;
  for (const auto& weight : op.weights) weights.push_back({weight.target, weight.value});
  return Trees(std::move(nodes), std::move(leaves), std::move(weights), op.roots, op.member_sets, op.targets);
}

}  // namespace

/// Where the leaves of a classifier of two classes weigh one of them alone, the score is that of the second class. If it is written as the
/// first one's, the first gets the rest: 1 - score where all weights are positive, -score elsewhere; otherwise the first keeps 0.
class TreeEnsembleKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, Float16, int64_t, int32_t>;

  explicit TreeEnsembleKernel(const KernelInfo& info) : op_(info.attributes<ops::TreeEnsemble>()) {
    // Integers and halves are compared as floats, unless the splits are doubles.
    if (op_.is_double || info.input_dtype(0) == DType::float64) {
      double_trees_.emplace(flat_trees<double>(op_));
    } else {
      float_trees_.emplace(flat_trees<float>(op_));
    }
    shrink();
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() != 1 && x.rank() != 2) {
      return error_status(ErrorCode::invalid_argument, "the input has shape {}, expected [rows, features]", x.shape().to_string());
    }
    const int64_t rows = x.rank() == 2 ? x.shape()[0] : 1, features = x.shape()[x.rank() - 1];
    if (features < op_.features && rows > 0) {
      return error_status(ErrorCode::invalid_argument,
                          "the input has {} features, but the trees test feature {}: expected [rows, {}] or more", features,
                          op_.features - 1, op_.features);
    }
    double* totals = context.scratch_array<double>(std::max<int64_t>(1, rows * op_.targets));
    bool* reached = context.scratch_array<bool>(std::max<int64_t>(1, rows * op_.targets));
    RH_RETURN_IF_ERROR(dispatch<Types>(x.dtype(), "TreeEnsemble", [&]<typename T>() {
      if (double_trees_) {
        walk<T>(context, *double_trees_, x.data<T>(), rows, features, totals, reached);
      } else {
        walk<T>(context, *float_trees_, x.data<T>(), rows, features, totals, reached);
      }
    }));
    return op_.classifies ? classify(context, rows, totals) : regress(context, rows, totals);
  }

 private:
  // What the flat trees have taken over.
  void shrink() {
    op_.nodes = {};
    op_.leaves = {};
    op_.weights = {};
    op_.member_sets = {};
    op_.nodes.shrink_to_fit();
    trees_ = static_cast<double>(op_.roots.size());
  }

  template <typename T, typename Compared>
  void walk(RunContext& context, const compute::Trees<Compared>& trees, const T* x, int64_t rows, int64_t features, double* totals,
            bool* reached) const {
    using Aggregate = typename compute::Trees<Compared>::Aggregate;
    const Aggregate aggregate = op_.aggregate == ops::TreeEnsemble::Aggregate::min   ? Aggregate::min
                                : op_.aggregate == ops::TreeEnsemble::Aggregate::max ? Aggregate::max
                                                                                     : Aggregate::sum;
    if constexpr (std::is_same_v<T, Compared>) {
      trees.run(x, rows, features, aggregate, totals, reached, context.parallel());
    } else {
      Compared* wide = context.scratch_array<Compared>(std::max<int64_t>(1, rows * features));
      for (int64_t i = 0; i < rows * features; ++i) wide[i] = static_cast<Compared>(static_cast<Compute<T>>(x[i]));
      trees.run(wide, rows, features, aggregate, totals, reached, context.parallel());
    }
  }

  double base(int64_t target) const {
    if (op_.base_values.empty()) return 0;
    return op_.base_values[op_.base_values.size() == 1 ? 0 : static_cast<size_t>(target)];
  }

  Status regress(RunContext& context, int64_t rows, double* totals) const {
    const MutableView y = context.output(0, {rows, op_.targets});
    for (int64_t i = 0; i < rows; ++i) {
      double* row = totals + i * op_.targets;
      for (int64_t k = 0; k < op_.targets; ++k) {
        if (op_.aggregate == ops::TreeEnsemble::Aggregate::average) row[k] /= trees_;
        row[k] += base(k);
      }
      apply_target_transform(op_.post_transform, row, op_.targets);
    }
    return dispatch<rh::Types<float, double, Float16>>(y.dtype(), "TreeEnsemble", [&]<typename T>() {
      for (int64_t i = 0; i < y.elements(); ++i) y.data<T>()[i] = narrowed<T>(totals[i]);
    });
  }

  Status classify(RunContext& context, int64_t rows, double* totals) const {
    const std::span<int64_t> classes(context.scratch_array<int64_t>(rows), static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) {
      double* row = totals + i * op_.targets;
      classes[static_cast<size_t>(i)] = op_.targets == 2 && op_.weighted_class >= 0 ? score_pair(row) : score_classes(row);
    }
    if (op_.string_labels.empty()) {
      int64_t* labels = context.output(0, DType::int64, {rows}).data<int64_t>();
      for (size_t i = 0; i < classes.size(); ++i) labels[i] = op_.int_labels[static_cast<size_t>(classes[i])];
    } else {
      std::string* labels = context.output(0, DType::string, {rows}).data<std::string>();
      for (size_t i = 0; i < classes.size(); ++i) labels[i] = op_.string_labels[static_cast<size_t>(classes[i])];
    }
    if (!context.has_output(1)) return {};
    const MutableView scores = context.output(1, DType::float32, {rows, op_.targets});
    std::copy(totals, totals + rows * op_.targets, scores.data<float>());
    return {};
  }

  int64_t score_classes(double* row) const {
    for (int64_t k = 0; k < op_.targets; ++k) row[k] += base(k);
    const int64_t best = std::max_element(row, row + op_.targets) - row;
    apply_post_transform(op_.post_transform, row, op_.targets);
    return best;
  }

  int64_t score_pair(double* row) const {
    const double score = row[op_.weighted_class] + base(op_.weighted_class);
    // Compared as the float that is given out: sums of floats such as 0.2 and 0.3 are ties there.
    const bool second = static_cast<float>(score) > (op_.weights_positive ? 0.5F : 0.0F);
    row[1] = score;
    if (op_.weighted_class == 0) {
      row[0] = op_.weights_positive && op_.post_transform != ops::PostTransform::logistic ? 1 - score : -score;
    }
    apply_post_transform(op_.post_transform, row, 2);
    return second;
  }

  ops::TreeEnsemble op_;
  double trees_ = 1;
  std::optional<compute::Trees<float>> float_trees_;
  std::optional<compute::Trees<double>> double_trees_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(TreeEnsembleKernel)
