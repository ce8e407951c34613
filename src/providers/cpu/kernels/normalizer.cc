#include "ops/ml/normalizer.h"

#include <algorithm>
#include <cmath>

#include "compute/elementwise/conversions.h"
#include "compute/elementwise/double_math.h"
#include "compute/elementwise/vector_math.h"
#include "compute/reduce/normalized_rows.h"
#include "compute/reduce/row_math.h"
#include "compute/scratch.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class NormalizerKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, int64_t, int32_t>;

  explicit NormalizerKernel(const KernelInfo& info) : norm_(info.attributes<ops::Normalizer>().norm) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() != 1 && x.rank() != 2) {
      return error_status(ErrorCode::invalid_argument, "Normalizer: the input has shape {}, expected [rows, features]",
                          x.shape().to_string());
    }
    const MutableView y = context.output(0, DType::float32, x.shape());
    const int64_t features = x.shape()[x.rank() - 1], rows = x.rank() == 2 ? x.shape()[0] : 1;
    return dispatch<Types>(x.dtype(), "Normalizer", [&]<typename T>() {
      const Cost cost{.bytes = (sizeof(T) + 4.0) * static_cast<double>(features), .operations = 4.0 * static_cast<double>(features)};
      context.parallel().for_range(rows, cost, [&](Range range) {
        if constexpr (std::is_same_v<T, float>) {
          if (features > 0 && features <= compute::kShortNormalizedRow && norm_ != ops::Normalizer::Norm::max) {
            const int64_t first = range.begin * features;
            return normalize_few(x.data<float>() + first, y.data<float>() + first, range.size(), features);
          }
        }
        if constexpr (std::is_same_v<T, float>) {
          if (norm_ != ops::Normalizer::Norm::max) {
            for (int64_t row = range.begin; row < range.end; ++row) {
              const float* from = x.data<float>() + row * features;
              float* to = y.data<float>() + row * features;
              if (!normalize_floats(from, to, features)) normalize(from, to, 1, features);
            }
            return;
          }
        }
        normalize(x.data<T>() + range.begin * features, y.data<float>() + range.begin * features, range.size(), features);
      });
    });
  }

 private:
  /// By sums of floats; false where these would lose too much of it, and for maxima.
  bool normalize_floats(const float* x, float* y, int64_t count) const {
    if (norm_ == ops::Normalizer::Norm::max) return false;
    const bool squares = norm_ == ops::Normalizer::Norm::l2;
    float sum = 0;
    compute::reduce_rows(squares ? compute::Reduction::sum_square : compute::Reduction::l1, x, &sum, 1, count);
    if (!is_certain(sum)) return false;
    compute::binary_scalar(compute::Binary::div, x, squares ? std::sqrt(sum) : sum, y, count);
    return true;
  }

  /// Rows of a few features, as probabilities of classes are, for which a call of vector loops each would cost more than its sum.
  void normalize_few(const float* x, float* y, int64_t rows, int64_t features) const {
    const bool squares = norm_ == ops::Normalizer::Norm::l2;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t at = row * features;
      row += compute::normalize_short_rows(squares, x + at, y + at, rows - row, features, kLeastSum, kMostSum);
      if (row < rows) normalize(x + row * features, y + row * features, 1, features);
    }
  }

  /// Whether a sum of floats has lost little of what it should be.
  static bool is_certain(float sum) { return sum > kLeastSum && sum < kMostSum; }

  /// In doubles.
  template <typename T>
  void normalize(const T* x, float* y, int64_t rows, int64_t features) const {
    using Norm = ops::Normalizer::Norm;
    const auto size = norm_ == Norm::max ? compute::RowSize::largest : norm_ == Norm::l1 ? compute::RowSize::sum : compute::RowSize::length;
    if constexpr (std::is_same_v<T, double>) {
      compute::divide_rows(size, x, y, rows, features);
    } else {
      constexpr int64_t kAtOnce = 1024;
      const int64_t most = std::max<int64_t>(1, kAtOnce / std::max<int64_t>(1, features));
      const size_t bytes = static_cast<size_t>(most * features) * sizeof(double);
      auto* wide = static_cast<double*>(compute::thread_scratch(compute::ScratchSlot::row, bytes));
      for (int64_t begin = 0; begin < rows; begin += most) {
        const int64_t count = std::min(most, rows - begin);
        compute::convert_numbers(dtype_of<T>, DType::float64, x + begin * features, wide, count * features);
        compute::divide_rows(size, wide, y + begin * features, count, features);
      }
    }
  }

  static constexpr float kLeastSum = 1e-20f, kMostSum = 1e30f;

  ops::Normalizer::Norm norm_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NormalizerKernel)
