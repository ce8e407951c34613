#include "ops/quant/gather_block_quantized.h"

#include <algorithm>

#include "compute/quant/nbits.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Codes become floats through a table; only what is gathered is read.
class GatherBlockQuantizedKernel final : public Kernel {
 public:
  struct Types {
    static constexpr DTypeSet set{DType::int4,           DType::uint4,      DType::uint8,          DType::float8e4m3fn,
                                  DType::float8e4m3fnuz, DType::float8e5m2, DType::float8e5m2fnuz, DType::float4e2m1};
  };

  explicit GatherBlockQuantizedKernel(const KernelInfo& info) : op_(info.attributes<ops::GatherBlockQuantized>()) {}

  Status run(RunContext& context) const override {
    const TensorView data = context.input(0), indices = context.input(1);
    if (data.rank() < 1) return error_status(ErrorCode::invalid_argument, "GatherBlockQuantized: data is a scalar, expected dimensions");
    const int axis = normalize_axis(op_.gather_axis, data.rank(), "GatherBlockQuantized: gather_axis");
    Codes codes;
    RH_RETURN_IF_ERROR(make_codes(context, codes));
    Shape shape(codes.shape.begin(), codes.shape.begin() + axis);
    for (const int64_t d : indices.shape()) shape.push_back(d);
    for (int k = axis + 1; k < codes.shape.rank(); ++k) shape.push_back(codes.shape[k]);
    check_elements(shape, "GatherBlockQuantized: output");
    const ConvertedOutput y(context, 0, shape, DType::float32);
    const int64_t size = codes.shape[axis], inner = codes.shape.product(axis + 1, codes.shape.rank()), count = indices.elements();
    if (y.view().elements() == 0) return {};
    const int64_t* given = indices_of(context, 1);
    const Cost cost{6.0 * static_cast<double>(inner), 4.0 * static_cast<double>(inner)};
    context.parallel().for_range(codes.shape.product(0, axis) * count, cost, [&](Range rows) {
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int64_t index = given[row % count];
        float* to = y.data<float>() + row * inner;
        if (index < -size || index >= size) {
          std::fill_n(to, inner, 0.0f);
        } else {
          codes.dequantize((row / count * size + (index < 0 ? index + size : index)) * inner, inner, to);
        }
      }
    });
    y.store(context.parallel());
    return {};
  }

 private:
  struct Codes {
    Shape shape;  ///< of the codes
    const void* data = nullptr;
    int bits = 8;
    bool is_unsigned = false;
    float value[256];     ///< of a code
    TensorView scales;    ///< [..., blocks, ...]
    Shape scale_strides;  ///< 0 along dimensions that share a scale
    int axis = 0;         ///< that is quantised
    int64_t block = 1;
    const void* zeros = nullptr;  ///< codes in the order of the scales, of which each `zero_row` begin on a byte; or null
    int64_t zero_row = 1;
    float default_zero = 0;

    int64_t scale_index(int64_t element) const {
      int64_t index = 0;
      for (int k = shape.rank() - 1; k >= 0; --k) {
        const int64_t at = element % shape[k];
        element /= shape[k];
        index += (k == axis ? at / block : at) * scale_strides[k];
      }
      return index;
    }

    uint8_t code(int64_t i) const {
      const uint8_t byte = static_cast<const uint8_t*>(data)[i * bits >> 3];
      return static_cast<uint8_t>(byte >> (i * bits & 7) & ((1 << bits) - 1));
    }

    float zero(int64_t scale) const {
      if (!zeros) return default_zero;
      const int64_t row_bytes = (zero_row * bits + 7) / 8;
      return value[packed_code(static_cast<const uint8_t*>(zeros) + scale / zero_row * row_bytes, bits, scale % zero_row)];
    }

    /// Elements from `first` on, before `end`, whose blocks lie one after the other with their scales and without zero points; 0: none.
    int64_t blocks_at(int64_t first, int64_t end) const {
      const int last = shape.rank() - 1;
      const int64_t at = first % shape[last];
      const bool is_plain = axis == last && scale_strides[last] == 1 && is_unsigned && !zeros && scales.dtype() == DType::float32 &&
                            default_zero == static_cast<float>(1 << (bits - 1));
      return is_plain && at % block == 0 && block * bits % 8 == 0 && first * bits % 8 == 0 ? std::min(end - first, shape[last] - at) : 0;
    }

    /// Elements [first, first + count), in pieces that share a scale or, across the blocks, have one each.
    void dequantize(int64_t first, int64_t count, float* out) const {
      const int64_t length = shape[shape.rank() - 1];
      const bool along = axis == shape.rank() - 1;
      for (const int64_t end = first + count; first < end;) {
        const int64_t at = first % length, stop = along ? std::min(length, (at / block + 1) * block) : length;
        const int64_t begin = scale_index(first);
        if (const int64_t count = blocks_at(first, end); count > 0) {
          compute::nbits_dequantize({.n = 1,
                                     .k = count,
                                     .bits = bits,
                                     .block = block,
                                     .data = static_cast<const uint8_t*>(data) + first * bits / 8,
                                     .scales = scales.data<float>() + begin},
                                    0, 1, out);
          first += count;
          out += count;
          continue;
        }
        const int64_t piece = std::min(end - first, stop - at);
        const int64_t step = along ? 0 : scale_strides[shape.rank() - 1];
        float offset = zero(begin), scale = element_as_float(scales, begin);
        if (along && is_unsigned && first * bits % 8 == 0) {
          const compute::NBitsMatrix block_of_codes{.n = 1,
                                                    .k = piece,
                                                    .bits = bits,
                                                    .block = piece,
                                                    .data = static_cast<const uint8_t*>(data) + first * bits / 8,
                                                    .scales = &scale,
                                                    .zero_points = &offset};
          compute::nbits_dequantize(block_of_codes, 0, 1, out);
          out += piece;
        } else {
          for (int64_t i = 0; i < piece; ++i) {
            if (step != 0) offset = zero(begin + i), scale = element_as_float(scales, begin + i);
            *out++ = (value[code(first + i)] - offset) * scale;
          }
        }
        first += piece;
      }
    }
  };

  Status make_codes(const RunContext& context, Codes& codes) const {
    const TensorView data = context.input(0);
    const int last = data.rank() - 1;
    const bool is_packed = data.dtype() == DType::uint8, is_float = is_floating(data.dtype());
    codes.shape = data.shape();
    codes.shape[last] = checked_product(codes.shape[last], op_.codes_per_byte(data.dtype()), "GatherBlockQuantized: data");
    codes.data = data.raw();
    codes.bits = is_packed ? static_cast<int>(op_.bits) : bits_of(data.dtype());
    codes.is_unsigned = is_packed || data.dtype() == DType::uint4;
    codes.axis = normalize_axis(op_.quantize_axis, data.rank(), "GatherBlockQuantized: quantize_axis");
    const int64_t size = codes.shape[codes.axis];
    codes.block = op_.block_size == 0 ? std::max<int64_t>(size, 1) : op_.block_size;
    const int64_t blocks = (size - 1) / codes.block + 1;
    for (int code = 0; code < 1 << codes.bits; ++code) {
      const auto byte = static_cast<uint8_t>(code);
      codes.value[code] = is_packed ? static_cast<float>(code) : element_as_float(TensorView(data.dtype(), Shape{1}, &byte), 0);
    }
    if (is_packed) codes.default_zero = static_cast<float>(1 << (codes.bits - 1));
    codes.scales = context.input(2);
    RH_RETURN_IF_ERROR(check_scales(codes, size == 0 ? 0 : blocks, is_float));
    if (!context.has_input(3)) return {};
    const TensorView zeros = context.input(3);
    Shape expected = codes.scales.shape();
    if (is_packed) expected[last] = (expected[last] * op_.bits + 7) / 8;
    if (zeros.dtype() != data.dtype() || is_float || !(zeros.shape() == expected)) {
      return error_status(ErrorCode::invalid_argument, "GatherBlockQuantized: zero_points are {}{}, expected {}{}",
                          to_string(zeros.dtype()), zeros.shape().to_string(), to_string(data.dtype()), expected.to_string());
    }
    codes.zeros = zeros.raw();
    codes.zero_row = std::max<int64_t>(1, is_packed ? codes.scales.shape()[last] : codes.scales.elements());
    return {};
  }

  static Status check_scales(Codes& codes, int64_t blocks, bool may_share) {
    Shape expected = codes.shape;
    expected[codes.axis] = blocks;
    const Shape& found = codes.scales.shape();
    bool fits = found.rank() == expected.rank();
    for (int k = 0; fits && k < expected.rank(); ++k) fits = found[k] == expected[k] || (may_share && k != codes.axis && found[k] == 1);
    if (!fits) {
      return error_status(ErrorCode::invalid_argument, "GatherBlockQuantized: scales have shape {}, expected {}", found.to_string(),
                          expected.to_string());
    }
    codes.scale_strides = strides_of(found);
    for (int k = 0; k < found.rank(); ++k) {
      if (found[k] == 1) codes.scale_strides[k] = 0;
    }
    return {};
  }

  ops::GatherBlockQuantized op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GatherBlockQuantizedKernel)
