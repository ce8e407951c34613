#include "ops/math/cdist.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "compute/elementwise/double_math.h"
#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm.h"
#include "compute/reduce/distances.h"
#include "compute/reduce/wide_reductions.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// By |a|^2 + |b|^2 - 2ab; where that cancels most digits, by the differences.
class CDistKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double>;

  explicit CDistKernel(const KernelInfo& info) : op_(info.attributes<ops::CDist>()) {}

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0), b = context.input(1);
    if (a.rank() != 2 || b.rank() != 2 || a.shape()[1] != b.shape()[1]) {
      return error_status(ErrorCode::invalid_argument, "CDist: the inputs have shapes {} and {}, expected [M, K] and [N, K]",
                          a.shape().to_string(), b.shape().to_string());
    }
    const Shape shape{a.shape()[0], b.shape()[0]};
    const int64_t columns = a.shape()[1];
    return dispatch<Types>(a.dtype(), "CDist", [&]<typename T>() {
      T* y = context.output(0, shape).data<T>();
      if (shape.elements() == 0) return;
      compute::GemmArgs<T> product{.m = shape[0], .n = shape[1], .k = columns, .transpose_b = true, .alpha = T(-2)};
      compute::gemm(product, a.data<T>(), b.data<T>(), y, context.parallel());
      T* norms = context.scratch_array<T>(shape[1]);
      add_up_squares(b.data<T>(), norms, shape[1], columns);
      const double work = 4.0 * static_cast<double>(shape[1] + columns);
      context.parallel().for_range(shape[0], {static_cast<double>(shape[1]) * sizeof(T), work}, [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i)
          finish_row(a.data<T>() + i * columns, b.data<T>(), columns, norms, shape[1], y + i * shape[1]);
      });
    });
  }

 private:
  /// A distance below this share of |a|^2 + |b|^2 is computed from the differences.
  static constexpr double kCancelled = 1.0 / 64;

  /// The sum of value(k)^2, in double and several partial sums.
  template <typename Value>
  static double squares(int64_t count, const Value& value) {
    constexpr int64_t kSums = 8;
    double sums[kSums] = {};
    int64_t k = 0;
    for (; k + kSums <= count; k += kSums) {
      for (int64_t lane = 0; lane < kSums; ++lane) sums[lane] += value(k + lane) * value(k + lane);
    }
    for (; k < count; ++k) sums[k % kSums] += value(k) * value(k);
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  }

  template <typename T>
  static auto at(const T* x) {
    return [x](int64_t k) { return static_cast<double>(x[k]); };
  }

  template <typename T>
  static void add_up_squares(const T* x, T* y, int64_t rows, int64_t columns) {
    if constexpr (std::is_same_v<T, float>) {
      compute::reduce_rows(compute::WideReduction::squares, x, y, rows, columns);
    } else {
      for (int64_t i = 0; i < rows; ++i) y[i] = squares(columns, at(x + i * columns));
    }
  }

  /// The number of distances that are to be computed again, after the norms were added to -2ab.
  template <typename T>
  static int64_t add_norms(T norm, const T* norms, T* y, int64_t count) {
    return compute::add_norms(norm, norms, static_cast<T>(kCancelled), y, count);
  }

  template <typename T>
  static bool fits(T whole, T distance) {
    return distance > whole * static_cast<T>(kCancelled) && distance <= std::numeric_limits<T>::max();
  }

  /// y holds -2ab. NaN and infinity, which may come of an overflow of the terms, are computed again as well.
  template <typename T>
  void finish_row(const T* a, const T* b, int64_t columns, const T* norms, int64_t count, T* y) const {
    T norm = 0;
    add_up_squares(a, &norm, 1, columns);
    if (add_norms(norm, norms, y, count) > 0) {
      for (int64_t j = 0; j < count; ++j) {
        if (fits(norm + norms[j], y[j])) continue;
        const T* to = b + j * columns;
        y[j] = static_cast<T>(squares(columns, [a, to](int64_t k) { return static_cast<double>(a[k]) - static_cast<double>(to[k]); }));
      }
    }
    if (op_.squared) return;
    if constexpr (std::is_same_v<T, float>) {
      compute::unary(compute::Unary::sqrt, y, y, count);
    } else {
      compute::double_unary(compute::DoubleUnary::sqrt, y, y, count);
    }
  }

  ops::CDist op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CDistKernel)
