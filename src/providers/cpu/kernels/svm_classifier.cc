#include "ops/ml/svm_classifier.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "compute/reduce/similarity.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/linear_scores.h"
#include "providers/cpu/post_transform.h"
#include "providers/cpu/svm_function.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

namespace {

/// Class probabilities from those of pairs, `pairs[i * count + j]` = P(i | i or j): the second method of Wu, Lin and Weng, "Probability
/// estimates for multi-class classification by pairwise coupling" (2004), by coordinate descent.
/// `q` and `qp` are memory for count * count and count numbers.
void couple(std::span<const double> pairs, std::span<double> p, std::span<double> q, std::span<double> qp) {
  const size_t count = p.size();
  std::ranges::fill(q, 0.0);
  for (size_t i = 0; i < count; ++i) {
    p[i] = 1.0 / static_cast<double>(count);
    for (size_t j = 0; j < count; ++j) {
      if (j == i) continue;
      q[i * count + i] += pairs[j * count + i] * pairs[j * count + i];
      q[i * count + j] = -pairs[j * count + i] * pairs[i * count + j];
    }
  }
  const double tolerance = 0.005 / static_cast<double>(count);
  for (size_t round = 0; round < std::max<size_t>(100, count); ++round) {
    double pqp = 0;
    for (size_t i = 0; i < count; ++i) {
      qp[i] = std::inner_product(p.begin(), p.end(), q.begin() + static_cast<ptrdiff_t>(i * count), 0.0);
      pqp += p[i] * qp[i];
    }
    if (std::all_of(qp.begin(), qp.end(), [&](double value) { return std::fabs(value - pqp) < tolerance; })) return;
    for (size_t i = 0; i < count; ++i) {
      const double step = (pqp - qp[i]) / q[i * count + i];
      p[i] += step;
      pqp = (pqp + step * (step * q[i * count + i] + 2 * qp[i])) / (1 + step) / (1 + step);
      for (size_t j = 0; j < count; ++j) {
        qp[j] = (qp[j] + step * q[i * count + j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
}

}  // namespace

class SVMClassifierKernel final : public Kernel {
 public:
  using Types = SvmInputs;

  explicit SVMClassifierKernel(const KernelInfo& info) : op_(info.attributes<ops::SVMClassifier>()), function_(op_.svm) {
    first_vector_.resize(op_.vectors_per_class.size() + 1);
    std::partial_sum(op_.vectors_per_class.begin(), op_.vectors_per_class.end(), first_vector_.begin() + 1);
    all_positive_ = std::all_of(op_.svm.coefficients.begin(), op_.svm.coefficients.end(), [](float c) { return c >= 0; });
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    int64_t rows = 0;
    RH_RETURN_IF_ERROR(check_rows("SVMClassifier", x, op_.svm.features, rows));
    const MutableView labels = context.output(0, op_.strings.empty() ? DType::int64 : DType::string, Shape{rows});
    const int64_t columns = op_.columns();
    float* out = context.output(1, DType::float32, Shape{rows, columns}).data<float>();
    const float* values = converted(context, x, DType::float32).data<float>();
    const int64_t width = op_.svm.is_linear() ? op_.svm.features : op_.svm.vector_count;
    const int64_t step = op_.svm.is_linear() ? rows : std::min(rows, function_.block_rows());
    float* similarities = op_.svm.is_linear() ? nullptr : context.scratch_array<float>(step * width);
    const Cost cost{.bytes = 0, .operations = 2.0 * static_cast<double>(width) * static_cast<double>(op_.classes)};
    for (int64_t first = 0; first < rows; first += step) {
      const int64_t count = std::min(step, rows - first);
      const float* numbers = values + first * op_.svm.features;
      if (similarities) function_.run(numbers, count, similarities, context.parallel());
      if (similarities) numbers = similarities;
      context.parallel().for_range(count, cost, [&](Range range) {
        BoundedList<double> scores(thread_list<double>(ThreadList::first, most_scores()));
        for (int64_t row = range.begin; row < range.end; ++row) {
          const float* of_row = numbers + row * width;
          const size_t best = op_.svm.is_linear() ? linear(of_row, scores) : pairwise(of_row, scores);
          write_label(labels, first + row, best);
          std::transform(scores.begin(), scores.end(), out + (first + row) * columns,
                         [](double score) { return static_cast<float>(score); });
        }
      });
    }
    return {};
  }

 private:
  /// Of a row: one a class or a pair of classes, and two at least.
  int64_t most_scores() const { return std::max<int64_t>({2, op_.classes, op_.classes * (op_.classes - 1) / 2}); }

  void write_label(const MutableView& labels, int64_t row, size_t best) const {
    if (op_.strings.empty()) {
      labels.data<int64_t>()[row] = op_.integers[best];
    } else {
      labels.data<std::string>()[row] = op_.strings[best];
    }
  }

  /// A score a class. Returns the label's index; of two labels with one offset the second wins above a threshold.
  size_t linear(const float* row, BoundedList<double>& scores) const {
    const ops::Svm& svm = op_.svm;
    scores.resize(static_cast<size_t>(op_.classes));
    for (int64_t k = 0; k < op_.classes; ++k) {
      scores[static_cast<size_t>(k)] =
          static_cast<double>(svm.rho[0]) + compute::dot_product(row, svm.coefficients.data() + k * svm.features, svm.features);
    }
    const auto largest = std::max_element(scores.begin(), scores.end());
    size_t best = static_cast<size_t>(largest - scores.begin());
    if (op_.classes == 2 && svm.rho.size() == 1 && (all_positive_ ? *largest >= 0.5 : *largest > 0)) best = 1;
    using enum ops::PostTransform;
    if (op_.classes > 1 || op_.transform == logistic || op_.transform == probit) {
      apply_post_transform(op_.transform, scores.data(), op_.classes);
    }
    return best;
  }

  /// A decision a pair of classes. Returns the class that wins most of them.
  size_t pairwise(const float* similarities, BoundedList<double>& scores) const {
    const auto count = static_cast<size_t>(op_.classes);
    scores.clear();
    const std::span<int64_t> votes = thread_list<int64_t>(ThreadList::second, op_.classes, 0);
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = i + 1; j < count; ++j) {
        const double decision =
            static_cast<double>(op_.svm.rho[scores.size()]) + weighted(similarities, i, j - 1) + weighted(similarities, j, i);
        scores.push_back(decision);
        ++votes[decision > 0 ? i : j];
      }
    }
    if (op_.gives_probabilities()) {
      to_probabilities(scores);
      apply_post_transform(op_.transform, scores.data(), op_.classes);
    } else if (count > 2) {
      apply_post_transform(op_.transform, scores.data(), static_cast<int64_t>(scores.size()));
    } else {
      split_decision(scores);
    }
    return static_cast<size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
  }

  /// The support vectors of a class under row `row` of the coefficients.
  double weighted(const float* similarities, size_t of_class, size_t row) const {
    const float* coefficients = op_.svm.coefficients.data() + static_cast<int64_t>(row) * op_.svm.vector_count;
    const int64_t first = first_vector_[of_class], end = first_vector_[of_class + 1];
    return compute::dot_product(coefficients + first, similarities + first, end - first);
  }

  void to_probabilities(BoundedList<double>& scores) const {
    const auto count = static_cast<size_t>(op_.classes);
    const std::span<double> memory = thread_list<double>(ThreadList::third, (2 * op_.classes + 1) * op_.classes, 0.0);
    const std::span<double> pairs = memory.first(count * count);
    size_t pair = 0;
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = i + 1; j < count; ++j, ++pair) {
        const double z = scores[pair] * static_cast<double>(op_.prob_a[pair]) + static_cast<double>(op_.prob_b[pair]);
        pairs[i * count + j] = std::clamp(1 / (1 + std::exp(z)), 1e-7, 1 - 1e-7);
        pairs[j * count + i] = 1 - pairs[i * count + j];
      }
    }
    scores.resize(count);
    couple(pairs, {scores.data(), scores.size()}, memory.subspan(count * count, count * count), memory.last(count));
  }

  /// The scores of both classes from their one decision.
  void split_decision(BoundedList<double>& scores) const {
    using enum ops::PostTransform;
    if (scores.empty()) return scores.assign({0, 0});  // a single class
    double score = scores[0];
    switch (op_.transform) {
      case none: scores.assign({-score, score}); return;
      case logistic: scores.assign({1 / (1 + std::exp(score)), 1 / (1 + std::exp(-score))}); return;
      case probit:
        apply_post_transform(probit, &score, 1);
        scores.assign({score, 0});
        return;
      case softmax:
      case softmax_zero: scores.assign({1 - score, score}); return;
    }
  }

  ops::SVMClassifier op_;
  SvmFunction function_;
  std::vector<int64_t> first_vector_;
  bool all_positive_ = false;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SVMClassifierKernel)
