#include "ops/quant/quantize_linear.h"

#include <cmath>

#include "compute/quant/quantize.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

namespace {

/// Range of an integer type without its zero point.
compute::QuantRange range_of(DType dtype) {
  const int bits = bits_of(dtype);
  return is_signed_integer(dtype) ? compute::QuantRange{0, -(1 << (bits - 1)), (1 << (bits - 1)) - 1}
                                  : compute::QuantRange{0, 0, (1 << bits) - 1};
}

template <typename T>
T quantized(double quotient, const compute::QuantRange& range) {
  const double value = std::nearbyint(quotient) + range.zero_point;
  return static_cast<T>(value > range.low ? std::min(value, static_cast<double>(range.high)) : range.low);
}

double quotient(double x, double scale, DType precision) {
  const auto in = [=]<typename T>(T) {
    return static_cast<double>(T(static_cast<float>(T(static_cast<float>(x))) / static_cast<float>(T(static_cast<float>(scale)))));
  };
  if (precision == DType::float16) return in(Float16());
  if (precision == DType::bfloat16) return in(BFloat16());
  return precision == DType::float32 ? in(float()) : x / scale;
}

}  // namespace

class QuantizeLinearKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16, int32_t>;

  explicit QuantizeLinearKernel(const KernelInfo& info) : op_(info.attributes<ops::QuantizeLinear>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), scale = context.input(1);
    QuantRows rows;
    RH_RETURN_IF_ERROR(QuantRows::make(x.shape(), scale.shape(), op_.axis, op_.block_size, rows));
    const bool has_zero = context.has_input(2);
    if (has_zero && context.input(2).elements() != scale.elements()) {
      return error_status(ErrorCode::invalid_argument, "the zero point has shape {}, expected that of the scale, {}",
                          context.input(2).shape().to_string(), scale.shape().to_string());
    }
    const DType to = op_.to != DType::undefined ? op_.to : has_zero ? context.input(2).dtype() : DType::uint8;
    if (is_integer(to) && bits_of(to) <= 16) return to_integers(context, rows, to);
    if (is_floating(to) && bits_of(to) <= 8 && to != DType::float8e8m0) return to_floats(context, rows, to);
    return error_status(ErrorCode::invalid_argument,
                        "the output would be {}, expected an integer of at most 16 or a float of at most 8 bits", to_string(to));
  }

 private:
  /// Float16 and bfloat16 are divided in float; int32 and what has a precision of its own, element by element.
  bool in_float(const TensorView& x, const TensorView& scale) const {
    return x.dtype() != DType::int32 && scale.dtype() != DType::int32 &&
           (op_.precision == DType::undefined || op_.precision == DType::float32);
  }

  Status to_integers(RunContext& context, const QuantRows& rows, DType to) const {
    const TensorView x = context.input(0), scale = context.input(1);
    ElementOutput y(context, 0, to, x.shape());
    const std::span<const double> scales = as_doubles(context, scale), zero_points = zero_points_of(context, scales.size());
    const compute::QuantRange limits = range_of(to);
    const auto range_at = [&](int64_t i) {
      return compute::QuantRange{static_cast<int32_t>(zero_points[static_cast<size_t>(i)]), limits.low, limits.high};
    };
    const auto quantize = [&]<typename T>(T* out) {
      if (!in_float(x, scale)) {
        rows.run(context.parallel(), 16, [&](const QuantRows::Row& row) {
          for (int64_t i = 0; i < row.count; ++i) {
            const int64_t at = row.scale + (row.per_element ? i : 0);
            const double q = quotient(element_as_double(x, row.begin + i), scales[static_cast<size_t>(at)], op_.precision);
            out[row.begin + i] = quantized<T>(q, range_at(at));
          }
        });
        return;
      }
      const float* from = converted(context, x, DType::float32).data<float>();
      rows.run(context.parallel(), 1, [&](const QuantRows::Row& row) {
        if (!row.per_element) {
          const float s = static_cast<float>(scales[static_cast<size_t>(row.scale)]);
          return compute::quantize(from + row.begin, s, range_at(row.scale), out + row.begin, row.count);
        }
        for (int64_t i = 0; i < row.count; ++i) {
          const float s = static_cast<float>(scales[static_cast<size_t>(row.scale + i)]);
          out[row.begin + i] = quantized<T>(static_cast<double>(from[row.begin + i] / s), range_at(row.scale + i));
        }
      });
    };
    const bool is_signed = is_signed_integer(to), is_wide = bits_of(to) > 8;
    if (is_wide) {
      is_signed ? quantize(reinterpret_cast<int16_t*>(y.data())) : quantize(reinterpret_cast<uint16_t*>(y.data()));
    } else {
      is_signed ? quantize(reinterpret_cast<int8_t*>(y.data())) : quantize(reinterpret_cast<uint8_t*>(y.data()));
    }
    y.finish();
    return {};
  }

  Status to_floats(RunContext& context, const QuantRows& rows, DType to) const {
    const TensorView x = context.input(0), scale = context.input(1);
    const MutableView y = context.output(0, to, x.shape());
    const std::span<const double> scales = as_doubles(context, scale), zero_points = zero_points_of(context, scales.size());
    const DType precision = in_float(x, scale) ? DType::float32 : op_.precision;
    float* quotients = context.scratch_array<float>(x.elements());
    rows.run(context.parallel(), 16, [&](const QuantRows::Row& row) {
      for (int64_t i = 0; i < row.count; ++i) {
        const size_t at = static_cast<size_t>(row.scale + (row.per_element ? i : 0));
        quotients[row.begin + i] =
            static_cast<float>(quotient(element_as_double(x, row.begin + i), scales[at], precision) + zero_points[at]);
      }
    });
    convert(context.parallel(), TensorView(DType::float32, x.shape(), quotients), y, {.saturate = op_.saturate});
    return {};
  }

  ops::QuantizeLinear op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QuantizeLinearKernel)
