#include "ops/ml/linear_classifier.h"

#include <algorithm>
#include <span>
#include <string>

#include "compute/elementwise/conversions.h"
#include "compute/elementwise/double_math.h"
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

  explicit LinearClassifierKernel(const KernelInfo& info)
      : op_(info.attributes<ops::LinearClassifier>()),
        wide_coefficients_(op_.coefficients.begin(), op_.coefficients.end()),
        wide_intercepts_(op_.intercepts.begin(), op_.intercepts.end()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    int64_t rows = 0, features = 0;
    RH_RETURN_IF_ERROR(check_rows("LinearClassifier", x, op_.classes, op_.coefficients, rows, features));
    const int64_t columns = op_.adds_second_class() ? 2 : op_.classes;
    const MutableView labels = context.output(0, op_.strings.empty() ? DType::int64 : DType::string, Shape{rows});
    const MutableView out = context.output(1, DType::float32, Shape{rows, columns});
    if (op_.classes > 1 && is_of_rows(op_.transform)) {
      const Cost cost{.bytes = bits_of(x.dtype()) / 8.0 * static_cast<double>(features),
                      .operations = 2.0 * static_cast<double>(op_.coefficients.size())};
      return dispatch<Types>(x.dtype(), "LinearClassifier", [&]<typename T>() {
        context.parallel().for_range(rows, cost, [&](Range range) { classify(x.data<T>(), features, range, labels, out.data<float>()); });
      });
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
  /// Whether many rows are transformed at once.
  static bool is_of_rows(ops::PostTransform transform) {
    using enum ops::PostTransform;
    return transform == none || transform == softmax || transform == logistic;
  }

  /// Rows of floats, many at once.
  void classify(const float* x, int64_t features, Range rows, const MutableView& labels, float* out) const {
    constexpr int64_t kRowsAtOnce = 256;
    const int64_t classes = op_.classes;
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

  /// Rows of other types in doubles, many at once.
  template <typename T>
  void classify(const T* x, int64_t features, Range rows, const MutableView& labels, float* out) const {
    constexpr int64_t kRowsAtOnce = 128;
    const int64_t classes = op_.classes;
    const int64_t room = kRowsAtOnce * classes;
    const std::span<double> lists = thread_list<double>(ThreadList::first, room + (std::is_same_v<T, double> ? 0 : kRowsAtOnce * features));
    double* const scores = lists.data();
    for (int64_t row = rows.begin; row < rows.end; row += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, rows.end - row);
      const double* from = nullptr;
      if constexpr (std::is_same_v<T, double>) {
        from = x + row * features;
      } else {
        compute::convert_numbers(dtype_of<T>, DType::float64, x + row * features, scores + room, count * features);
        from = scores + room;
      }
      compute::GemmArgs<double> args{.m = count, .n = classes, .k = features, .transpose_b = true};
      if (!wide_intercepts_.empty()) {
        args.epilogue.bias_kind = compute::BiasKind::per_column;
        args.epilogue.bias = wide_intercepts_.data();
      }
      compute::gemm(args, from, wide_coefficients_.data(), scores, Parallel());
      for (int64_t i = 0; i < count; ++i) name_row(labels, row + i, place_of_largest(scores + i * classes, classes), true);
      if (op_.transform == ops::PostTransform::softmax) compute::softmax_rows(scores, scores, count, classes, false);
      if (op_.transform == ops::PostTransform::logistic)
        compute::double_unary(compute::DoubleUnary::sigmoid, scores, scores, count * classes);
      compute::convert_numbers(DType::float64, DType::float32, scores, out + row * classes, count * classes);
    }
  }

  /// Without branches, whose outcome nothing foretells.
  static int64_t place_of_largest(const double* scores, int64_t count) {
    double largest = scores[0];
    int64_t best = 0;
    for (int64_t k = 1; k < count; ++k) {
      best = scores[k] > largest ? k : best;
      largest = scores[k] > largest ? scores[k] : largest;
    }
    return best;
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
  std::vector<double> wide_coefficients_, wide_intercepts_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LinearClassifierKernel)
