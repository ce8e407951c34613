#include "ops/quant/dequantize_linear.h"

#include <algorithm>
#include <span>
#include <type_traits>

#include "compute/quant/quantize.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

class DequantizeLinearKernel final : public Kernel {
 public:
  struct Types {
    static constexpr DTypeSet set{DType::int8,       DType::uint8,        DType::int16,          DType::uint16,
                                  DType::int32,      DType::float8e4m3fn, DType::float8e5m2,     DType::float8e4m3fnuz,
                                  DType::float4e2m1, DType::uint4,        DType::float8e5m2fnuz, DType::int4,
                                  DType::uint2,      DType::int2,         DType::float6e2m3,     DType::float6e3m2};
  };

  explicit DequantizeLinearKernel(const KernelInfo& info) : op_(info.attributes<ops::DequantizeLinear>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), scale = context.input(1);
    QuantRows rows;
    RH_RETURN_IF_ERROR(QuantRows::make(x.shape(), scale.shape(), op_.axis, op_.block_size, rows));
    if (context.has_input(2) && context.input(2).elements() != scale.elements()) {
      return error_status(ErrorCode::invalid_argument, "the zero point has shape {}, expected that of the scale, {}",
                          context.input(2).shape().to_string(), scale.shape().to_string());
    }
    const DType to = op_.to != DType::undefined ? op_.to : scale.dtype();
    if (to != DType::float32 && to != DType::float16 && to != DType::bfloat16) {
      return error_status(ErrorCode::invalid_argument, "the output would be {}, expected float, float16 or bfloat16", to_string(to));
    }
    const MutableView y = context.output(0, to, x.shape());
    if (y.elements() == 0) return {};
    const MutableView wide = to == DType::float32 ? y : MutableView(DType::float32, x.shape(), context.scratch_array<float>(x.elements()));
    dequantize(context, rows, wide.data<float>());
    if (to != DType::float32) convert(context.parallel(), wide, y);
    return {};
  }

 private:
  void dequantize(RunContext& context, const QuantRows& rows, float* y) const {
    const TensorView x = context.input(0);
    switch (x.dtype()) {
      case DType::int8: return run_rows(context, rows, x.data<int8_t>(), y);
      case DType::uint8: return run_rows(context, rows, x.data<uint8_t>(), y);
      case DType::int16: return run_rows(context, rows, x.data<int16_t>(), y);
      case DType::uint16: return run_rows(context, rows, x.data<uint16_t>(), y);
      case DType::int32: return run_rows(context, rows, x.data<int32_t>(), y);
      case DType::uint4:
      case DType::uint2: return run_rows(context, rows, reinterpret_cast<const uint8_t*>(ElementInput(context, 0).data()), y);
      case DType::int4:
      case DType::int2: return run_rows(context, rows, sign_extended(context, x), y);
      default: return run_rows(context, rows, converted(context, x, DType::float32).data<float>(), y);
    }
  }

  static const int8_t* sign_extended(RunContext& context, const TensorView& x) {
    const auto* codes = reinterpret_cast<const uint8_t*>(ElementInput(context, 0).data());
    int8_t* result = context.scratch_array<int8_t>(x.elements());
    const int shift = 8 - bits_of(x.dtype());
    for (int64_t i = 0; i < x.elements(); ++i) result[i] = static_cast<int8_t>(static_cast<int8_t>(codes[i] << shift) >> shift);
    return result;
  }

  /// T holds the values of x; float where x is a float, whose zero point is one too.
  template <typename T>
  static void run_rows(RunContext& context, const QuantRows& rows, const T* x, float* y) {
    const std::span<const double> scales = doubles_of(context, context.input(1));
    const std::span<const double> zero_points =
        context.has_input(2) ? doubles_of(context, context.input(2)) : zero_points_of(context, scales.size());
    constexpr bool kIsShort = std::is_integral_v<T> && sizeof(T) <= 2;
    using Number = std::conditional_t<kIsShort, float, double>;  // in which differences are exact
    const Number *const own_scales = as<Number>(context, scales), *const own_zeros = as<Number>(context, zero_points);
    rows.run(context.parallel(), 1, [&](const QuantRows::Row& row) {
      const float scale = static_cast<float>(scales[static_cast<size_t>(row.scale)]);
      if constexpr (sizeof(T) <= 2) {
        if (!row.per_element) {
          const auto zero = static_cast<int32_t>(zero_points[static_cast<size_t>(row.scale)]);
          return compute::dequantize(x + row.begin, scale, zero, y + row.begin, row.count);
        }
      }
      int64_t i = 0;
      if constexpr (std::is_integral_v<T>) i = run_blocks(row, x + row.begin, own_scales + row.scale, own_zeros + row.scale, y + row.begin);
      for (; i < row.count; ++i) {
        const size_t at = static_cast<size_t>(row.scale + (row.per_element ? i : 0));
        const double difference = static_cast<double>(x[row.begin + i]) - zero_points[at];
        y[row.begin + i] = static_cast<float>(difference) * static_cast<float>(scales[at]);
      }
    });
  }

  /// Blocks have many scales and zero points: those of the usual types without a call for each.
  static std::span<const double> doubles_of(RunContext& context, const TensorView& view) {
    const auto copied = [&](const auto* from) -> std::span<const double> {
      double* const values = context.scratch_array<double>(view.elements());
      std::copy_n(from, view.elements(), values);
      return {values, static_cast<size_t>(view.elements())};
    };
    switch (view.dtype()) {
      case DType::float32: return copied(view.data<float>());
      case DType::int8: return copied(view.data<int8_t>());
      case DType::uint8: return copied(view.data<uint8_t>());
      case DType::int16: return copied(view.data<int16_t>());
      case DType::uint16: return copied(view.data<uint16_t>());
      default: return as_doubles(context, view);
    }
  }

  template <typename Number>
  static const Number* as(RunContext& context, std::span<const double> values) {
    if constexpr (std::is_same_v<Number, double>) {
      return values.data();
    } else {
      Number* const own = context.scratch_array<Number>(static_cast<int64_t>(values.size()));
      std::ranges::transform(values, own, [](double value) { return static_cast<Number>(value); });
      return own;
    }
  }

  /// Blocks whose length compilers know; how many elements they had.
  template <typename T, typename Number>
  static int64_t run_blocks(const QuantRows::Row& row, const T* x, const Number* scale, const Number* zero, float* y) {
    constexpr int64_t kBlock = 16;
    const auto run = [&](auto step) {
      int64_t i = 0;
      for (; i + kBlock <= row.count; i += kBlock) {
        float block[kBlock];
        for (int64_t k = 0; k < kBlock; ++k)
          block[k] = static_cast<float>(static_cast<Number>(x[i + k]) - zero[(i + k) * step]) * static_cast<float>(scale[(i + k) * step]);
        std::copy_n(block, kBlock, y + i);
      }
      return i;
    };
    return row.per_element ? run(std::integral_constant<int64_t, 1>()) : run(std::integral_constant<int64_t, 0>());
  }

  ops::DequantizeLinear op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DequantizeLinearKernel)
