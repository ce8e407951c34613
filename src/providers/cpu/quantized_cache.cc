#include "providers/cpu/quantized_cache.h"

#include <algorithm>
#include <cmath>

#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

// The whole number that stands for x, of as many bits; 0 for NaN.
int32_t quantized(float x, float scale, int64_t bits) {
  const float limit = bits == 4 ? 8.0f : 128.0f;
  const float rounded = std::nearbyint(x / scale);
  return std::isnan(rounded) ? 0 : static_cast<int32_t>(std::clamp(rounded, -limit, limit - 1));
}

void quantize_row(const CacheFormat& format, const float* from, const float* scales, int64_t depth, uint8_t* to) {
  const auto number = [&](int64_t i) { return quantized(from[i], scales[format.scale_count == 1 ? 0 : i], format.bits); };
  if (format.bits == 8) {
    for (int64_t i = 0; i < depth; ++i) to[i] = static_cast<uint8_t>(number(i));
  } else {
    for (int64_t i = 0; i < depth; i += 2) {
      const int32_t low = number(i) + 8, high = i + 1 < depth ? number(i + 1) + 8 : 0;
      to[i / 2] = static_cast<uint8_t>(low | high << 4);
    }
  }
}

void dequantize_row(const CacheFormat& format, const uint8_t* from, const float* scales, int64_t depth, float* to) {
  for (int64_t i = 0; i < depth; ++i) {
    const int32_t number = format.bits == 8 ? static_cast<int8_t>(from[i]) : static_cast<int32_t>(from[i / 2] >> (i % 2 * 4) & 15) - 8;
    to[i] = static_cast<float>(number) * scales[format.scale_count == 1 ? 0 : i];
  }
}

}  // namespace

NewRows quantized_rows(RunContext& context, const CacheFormat& format, int64_t batch, int64_t heads, int64_t depth, const NewRows& rows) {
  const int64_t bytes = format.bytes_of_row(depth), length = rows.length;
  uint8_t* to = context.scratch_array<uint8_t>(batch * length * heads * bytes);
  const double work = 4 * static_cast<double>(depth);
  context.parallel().for_range(batch * length * heads, {work, work}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t head = i % heads, token = i / heads;
      const float* from = static_cast<const float*>(rows.from) + token / length * rows.strides.batch + token % length * rows.strides.row +
                          head * rows.strides.head;
      quantize_row(format, from, format.scales + (format.scale_count == 1 ? 0 : head * depth), depth, to + i * bytes);
    }
  });
  return {to, token_strides(length, bytes, heads * bytes), length};
}

const float* dequantized_cache(RunContext& context, const CacheFormat& format, const TensorView& cache, int64_t depth, int64_t filled) {
  const int64_t heads = cache.shape()[1], capacity = cache.shape()[2], bytes = format.bytes_of_row(depth);
  const Shape shape{cache.shape()[0], heads, capacity, depth};
  check_elements(shape, "the numbers of a quantised cache");
  float* to = context.scratch_array<float>(shape.elements());
  const double work = static_cast<double>(filled * depth);
  context.parallel().for_range(cache.shape()[0] * heads, {4 * work, work}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const float* scales = format.scales + (format.scale_count == 1 ? 0 : i % heads * depth);
      for (int64_t row = i * capacity; row < i * capacity + filled; ++row) {
        dequantize_row(format, cache.data<uint8_t>() + row * bytes, scales, depth, to + row * depth);
      }
    }
  });
  return to;
}

}  // namespace rh::cpu
