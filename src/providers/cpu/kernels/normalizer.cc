#include "ops/ml/normalizer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/elementwise/conversions.h"
#include "compute/elementwise/double_math.h"
#include "compute/elementwise/vector_math.h"
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
          if (features > 0 && features <= kFewFeatures && norm_ != ops::Normalizer::Norm::max) {
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

  /// Rows of a few features, as probabilities of classes are, many at once: a call of vector loops for each would cost more than its sum.
  void normalize_few(const float* x, float* y, int64_t rows, int64_t features) const {
    constexpr int64_t kAtOnce = 1024;
    std::array<float, kAtOnce> sizes;
    const bool squares = norm_ == ops::Normalizer::Norm::l2;
    const int64_t most = kAtOnce / features;
    for (int64_t begin = 0; begin < rows; begin += most) {
      const int64_t count = std::min(most, rows - begin);
      const float *const from = x + begin * features, *row = from;
      float* const to = y + begin * features;
      bool all = true;
      for (int64_t i = 0; i < count; ++i, row += features) {
        float sum = 0;
        if (squares) {
          for (int64_t k = 0; k < features; ++k) sum += row[k] * row[k];
        } else {
          for (int64_t k = 0; k < features; ++k) sum += std::fabs(row[k]);
        }
        all = all && is_certain(sum);
        std::fill_n(sizes.data() + i * features, features, squares ? std::sqrt(sum) : sum);
      }
      if (all) {
        compute::binary(compute::Binary::div, from, sizes.data(), to, count * features);
      } else {
        normalize(from, to, count, features);
      }
    }
  }

  /// Whether a sum of floats has lost little of what it should be.
  static bool is_certain(float sum) { return sum > 1e-20f && sum < 1e30f; }

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

  static constexpr int64_t kFewFeatures = 16;

  ops::Normalizer::Norm norm_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NormalizerKernel)
