#include "ops/quant/qlinear_matmul.h"

#include <algorithm>
#include <cmath>

#include "compute/quant/quantize.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/int8_product.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

/// Integers by exact sums; 8-bit floats by way of float.
class QLinearMatMulKernel final : public Kernel {
 public:
  using Types = rh::Types<int8_t, uint8_t, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>;

  explicit QLinearMatMulKernel(const KernelInfo& info)
      : product_(info, {.a = 0, .b = 3, .a_zero = 2, .b_zero = 5}), is_integer_(is_integer(info.input_dtype(0))) {}

  bool owns_constant(int input) const override { return input == 3 && product_.owns_right(); }
  size_t packed_bytes() const override { return product_.packed_bytes(); }
  KernelVariant variant() const override {
    return is_integer_ ? product_.variant() : KernelVariant{.problem = "", .variant = "plain", .variants = {}};
  }

  Status run(RunContext& context) const override {
    MatMulProblem p;
    RH_RETURN_IF_ERROR(MatMulProblem::make("QLinearMatMul", context.input(0).shape(), product_.right_shape(context), p));
    const MutableView y = context.output(0, context.input(7).dtype(), p.result);
    if (y.elements() == 0) return {};
    Scales scales;
    RH_RETURN_IF_ERROR(read_scales(context, p, scales));
    const bool integer_right = product_.owns_right() || is_integer(context.input(3).dtype());
    if (integer_right && is_integer(context.input(0).dtype()) && is_integer(y.dtype())) return to_integers(context, p, scales, y);
    if (product_.owns_right()) {
      return error_status(ErrorCode::not_implemented,
                          "QLinearMatMul: a is {} and y {} where b is a constant of 8-bit integers, expected integers",
                          to_string(context.input(0).dtype()), to_string(y.dtype()));
    }
    return in_float(context, p, scales, y);
  }

 private:
  struct Scales {
    std::span<const double> a, b;
    float y;
    int32_t zero = 0;
  };

  static Status read_scales(RunContext& context, const MatMulProblem& p, Scales& scales) {
    scales.a = as_doubles(context, context.input(1));
    scales.b = as_doubles(context, context.input(4));
    RH_RETURN_IF_ERROR(scalar_of(context.input(6), "the scale of y", scales.y));
    RH_RETURN_IF_ERROR(scalar_of(context.input(7), "the zero point of y", scales.zero));
    const int64_t rows = static_cast<int64_t>(scales.a.size()), columns = static_cast<int64_t>(scales.b.size());
    if (rows != 1 && rows != p.m && rows != p.m * p.batch.elements()) {
      return error_status(ErrorCode::invalid_argument, "the scale of a has {} elements, expected 1 or {}", rows, p.m);
    }
    if (columns != 1 && columns != p.n && columns != p.n * p.batch.elements()) {
      return error_status(ErrorCode::invalid_argument, "the scale of b has {} elements, expected 1 or {}", columns, p.n);
    }
    return {};
  }

  /// Scale of a row and of a column within it, of the whole result [batch * m, n].
  static double row_scale(const Scales& s, int64_t row) { return s.a[static_cast<size_t>(row) % s.a.size()]; }
  static double column_scale(const Scales& s, const MatMulProblem& p, int64_t row, int64_t column) {
    const size_t at = static_cast<size_t>(row / p.m * p.n + column);
    return s.b[at % s.b.size()];
  }

  Status to_integers(RunContext& context, const MatMulProblem& p, const Scales& scales, const MutableView& y) const {
    const bool uniform = scales.a.size() == 1 && (scales.b.size() == 1 || static_cast<int64_t>(scales.b.size()) == p.n);
    const bool per_column = scales.b.size() > 1;
    float* factors = context.scratch_array<float>(p.n);
    const auto fill = [&](int64_t row, int64_t first, int64_t count, float* out) {
      for (int64_t j = 0; j < count; ++j) {
        out[j] = static_cast<float>(row_scale(scales, row)) * static_cast<float>(column_scale(scales, p, row, first + j)) / scales.y;
      }
    };
    fill(0, 0, per_column ? p.n : 1, factors);
    return dispatch<rh::Types<int8_t, uint8_t>>(y.dtype(), "QLinearMatMul", [&]<typename T>() {
      const auto range = compute::QuantRange::of<T>(scales.zero);
      return product_.run(context, p, [&](const compute::Int8Tile& tile) {
        for (int64_t i = 0; i < tile.rows; ++i) {
          T* out = y.data<T>() + (tile.row + i) * p.n + tile.column;
          const int32_t* sums = tile.sums + i * tile.stride;
          if (uniform) {
            compute::requantize(sums, factors + (per_column ? tile.column : 0), per_column, range, out, tile.columns);
            continue;
          }
          float own[16];
          for (int64_t j = 0; j < tile.columns; j += 16) {
            const int64_t count = std::min<int64_t>(16, tile.columns - j);
            fill(tile.row + i, tile.column + j, count, own);
            compute::requantize(sums + j, own, true, range, out + j, count);
          }
        }
      });
    });
  }

  static float zero_at(std::span<const double> zeros, int64_t i) {
    return zeros.empty() ? 0 : static_cast<float>(zeros[static_cast<size_t>(i) % zeros.size()]);
  }

  static Status in_float(RunContext& context, const MatMulProblem& p, const Scales& scales, const MutableView& y) {
    const int64_t count = p.batch.elements();
    auto *const a_offsets = context.scratch_array<int64_t>(2 * count), *const b_offsets = a_offsets + count;
    fill_batch_offsets(p.a_batch, p.batch, p.m * p.k, a_offsets);
    fill_batch_offsets(p.b_batch, p.batch, p.k * p.n, b_offsets);
    const float* a = converted(context, context.input(0), DType::float32).data<float>();
    const float* b = converted(context, context.input(3), DType::float32).data<float>();
    const std::span<const double> a_zero = as_doubles(context, context.input(2)), b_zero = as_doubles(context, context.input(5));
    float* result = context.scratch_array<float>(y.elements());
    for (int64_t i = 0; i < count; ++i) {
      const float *left = a + a_offsets[i], *right = b + b_offsets[i];
      for (int64_t row = 0; row < p.m; ++row) {
        for (int64_t column = 0; column < p.n; ++column) {
          double sum = 0;
          for (int64_t k = 0; k < p.k; ++k) {
            sum += static_cast<double>(left[row * p.k + k] - zero_at(a_zero, i * p.m + row)) *
                   static_cast<double>(right[k * p.n + column] - zero_at(b_zero, i * p.n + column));
          }
          const int64_t at = i * p.m + row;
          result[at * p.n + column] = static_cast<float>(
              sum * row_scale(scales, at) * column_scale(scales, p, at, column) / static_cast<double>(scales.y) + scales.zero);
        }
      }
    }
    if (is_integer(y.dtype())) {
      const int32_t low = y.dtype() == DType::int8 ? -128 : 0;
      for (int64_t i = 0; i < y.elements(); ++i) {
        const float value = std::min(std::max(std::nearbyint(result[i]), static_cast<float>(low)), static_cast<float>(low + 255));
        y.data<uint8_t>()[i] = static_cast<uint8_t>(narrowed<int32_t>(value));
      }
      return {};
    }
    convert(context.parallel(), TensorView(DType::float32, y.shape(), result), y);
    return {};
  }

  Int8Product product_;
  bool is_integer_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearMatMulKernel)
