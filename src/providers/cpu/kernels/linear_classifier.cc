#include "ops/ml/linear_classifier.h"

#include <algorithm>
#include <span>
#include <string>

#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/linear_scores.h"
#include "providers/cpu/post_transform.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

class LinearClassifierKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, int64_t, int32_t>;

  explicit LinearClassifierKernel(const KernelInfo& info) : op_(info.attributes<ops::LinearClassifier>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    int64_t rows = 0;
    RH_RETURN_IF_ERROR(check_rows("LinearClassifier", x, op_.features(), rows));
    const int64_t columns = op_.adds_second_class() ? 2 : op_.classes;
    const MutableView labels = context.output(0, op_.strings.empty() ? DType::int64 : DType::string, Shape{rows});
    const MutableView out = context.output(1, DType::float32, Shape{rows, columns});
    if (x.dtype() == DType::float32 && op_.classes > 1 && in_float(op_.transform)) {
      const Cost cost{.bytes = 4.0 * static_cast<double>(op_.features()), .operations = 2.0 * static_cast<double>(op_.coefficients.size())};
      context.parallel().for_range(rows, cost, [&](Range range) { classify(x.data<float>(), range, labels, out.data<float>()); });
      return {};
    }
    context.parallel().for_range(rows, Cost{.bytes = 0, .operations = 2.0 * static_cast<double>(op_.coefficients.size())},
                                 [&](Range range) {
                                   const std::span<double> scores = thread_list<double>(ThreadList::first, op_.classes);
                                   for (int64_t row = range.begin; row < range.end; ++row) {
                                     linear_scores(x, row, op_.coefficients, op_.intercepts, scores);
                                     write_label(labels, row, scores);
                                     write_scores(scores, out.data<float>() + row * columns);
                                   }
                                 });
    return {};
  }

 private:
  static bool in_float(ops::PostTransform transform) {
    using enum ops::PostTransform;
    return transform == none || transform == softmax || transform == logistic;
  }

  /// Rows of floats, many at once.
  void classify(const float* x, Range rows, const MutableView& labels, float* out) const {
    constexpr int64_t kRowsAtOnce = 256;
    const int64_t classes = op_.classes, features = op_.features();
    for (int64_t row = rows.begin; row < rows.end; row += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, rows.end - row);
      float* scores = out + row * classes;
      compute::GemmArgs<float> args{.m = count, .n = classes, .k = features, .transpose_b = true};
      if (!op_.intercepts.empty()) {
        args.epilogue.bias_kind = compute::BiasKind::per_column;
        args.epilogue.bias = op_.intercepts.data();
      }
      compute::gemm(args, x + row * features, op_.coefficients.data(), scores, Parallel());
      for (int64_t i = 0; i < count; ++i) {
        float* of_row = scores + i * classes;
        float largest = of_row[0];
        int64_t best = 0;
        for (int64_t k = 1; k < classes; ++k) {  // without branches, whose outcome nothing foretells
          const float score = of_row[k];
          best = score > largest ? k : best;
          largest = score > largest ? score : largest;
        }
        name_row(labels, row + i, best, true);
        if (op_.transform != ops::PostTransform::softmax) continue;
        for (int64_t k = 0; k < classes; ++k) of_row[k] -= largest;
      }
      transform(scores, count);
    }
  }

  /// Scores of rows, for a softmax what they lie below the largest one.
  void transform(float* scores, int64_t rows) const {
    const int64_t classes = op_.classes;
    if (op_.transform == ops::PostTransform::logistic) compute::unary(compute::Unary::sigmoid, scores, scores, rows * classes);
    if (op_.transform != ops::PostTransform::softmax) return;
    compute::unary(compute::Unary::exp, scores, scores, rows * classes);
    for (int64_t i = 0; i < rows; ++i, scores += classes) {
      float sum = 0;
      for (int64_t k = 0; k < classes; ++k) sum += scores[k];
      for (int64_t k = 0; k < classes; ++k) scores[k] /= sum;
    }
  }

  void name_row(const MutableView& labels, int64_t row, int64_t best, bool named) const {
    if (op_.strings.empty()) {
      labels.data<int64_t>()[row] = named ? op_.integers[static_cast<size_t>(best)] : best;
    } else {
      labels.data<std::string>()[row] = named ? op_.strings[static_cast<size_t>(best)] : std::to_string(best);
    }
  }

  void write_label(const MutableView& labels, int64_t row, std::span<const double> scores) const {
    const auto best = op_.classes == 1 ? int64_t{scores[0] > 0} : std::max_element(scores.begin(), scores.end()) - scores.begin();
    name_row(labels, row, best, op_.classes > 1 || op_.labels() == 2);
  }

  void write_scores(std::span<double> scores, float* out) const {
    if (op_.classes > 1) {
      apply_post_transform(op_.transform, scores.data(), op_.classes);
      std::transform(scores.begin(), scores.end(), out, [](double score) { return static_cast<float>(score); });
      return;
    }
    using enum ops::PostTransform;
    if (op_.transform == probit || op_.transform == logistic) apply_post_transform(op_.transform, scores.data(), 1);
    if (op_.adds_second_class()) *out++ = static_cast<float>(1 - scores[0]);
    *out = static_cast<float>(scores[0]);
  }

  ops::LinearClassifier op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LinearClassifierKernel)
