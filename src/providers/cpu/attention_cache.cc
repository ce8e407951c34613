#include "providers/cpu/attention_cache.h"

#include <algorithm>

#include "providers/cpu/convert.h"
#include "providers/cpu/float_rows.h"
#include "providers/cpu/rotary.h"

namespace rh::cpu {

RotaryAngles rotary_angles(RunContext& context, const char* op_type, int cosines, int64_t depth, int64_t length,
                           std::span<const int64_t> past, int positions, std::span<const int64_t> counted) {
  const Shape &cos = context.input(cosines).shape(), &sin = context.input(cosines + 1).shape();
  if (cos.rank() != 2 || !(cos == sin) || cos[1] < 1 || 2 * cos[1] > depth) {
    fail(ErrorCode::invalid_argument, "{}: cos_cache has shape {} and sin_cache {}, expected [positions, at most {}] both", op_type,
         cos.to_string(), sin.to_string(), depth / 2);
  }
  const int64_t batch = static_cast<int64_t>(past.size());
  RotaryAngles angles{.half = cos[1]};
  angles.cosines = converted(context, context.input(cosines), DType::float32).data<float>();
  angles.sines = converted(context, context.input(cosines + 1), DType::float32).data<float>();
  const bool given = positions >= 0 && context.has_input(positions);
  if (given && !(context.input(positions).shape() == Shape{batch, length})) {
    fail(ErrorCode::invalid_argument, "{}: position_ids has shape {}, expected [{}, {}]", op_type,
         context.input(positions).shape().to_string(), batch, length);
  }
  int64_t* const positions_of = context.scratch_array<int64_t>(batch * length);
  angles.positions = {positions_of, static_cast<size_t>(batch * length)};
  for (int64_t i = 0; i < batch * length; ++i) {
    positions_of[i] = 0;
    if (!counted.empty() && i % length >= counted[static_cast<size_t>(i / length)]) continue;
    const int64_t position = given ? context.input(positions).data<int64_t>()[i] : past[static_cast<size_t>(i / length)] + i % length;
    if (position < 0 || position >= cos[0]) {
      fail(ErrorCode::invalid_argument, "{}: a token has position {}, expected one in [0, {}), the rows of cos_cache", op_type, position,
           cos[0]);
    }
    positions_of[i] = position;
  }
  return angles;
}

void rotate_rows(RunContext& context, const RotaryAngles& angles, int64_t heads, int64_t depth, NewRows& rows) {
  const int64_t row = heads * depth, tokens = static_cast<int64_t>(angles.positions.size()), length = rows.length;
  float* to = context.scratch_array<float>(tokens * row);
  const float* from = static_cast<const float*>(rows.from);
  const Cost cost{8.0 * static_cast<double>(row), 4.0 * static_cast<double>(row)};
  context.parallel().for_range(tokens, cost, [&](Range part) {
    for (int64_t token = part.begin; token < part.end; ++token) {
      const int64_t angle = angles.positions[static_cast<size_t>(token)] * angles.half;
      const float *cos = angles.cosines + angle, *sin = angles.sines + angle;
      const float* x = from + token / length * rows.strides.batch + token % length * rows.strides.row;
      rotate_heads({heads, depth, depth, angles.half, angles.interleaved}, x, cos, sin, to + token * row);
    }
  });
  rows.from = to;
  rows.strides = token_strides(length, depth, row);
}

namespace {

// Rows of float heads, contiguous and in the cache's type.
NewRows narrowed_rows(RunContext& context, DType dtype, const Shape& cache, const NewRows& rows) {
  const int64_t row = cache[1] * cache[3];
  const Shape all{cache[0], rows.length, row};
  float* wide = context.scratch_array<float>(all.elements());
  for (int64_t token = 0; token < cache[0] * rows.length; ++token) {
    const int64_t at = token / rows.length * rows.strides.batch + token % rows.length * rows.strides.row;
    std::copy_n(static_cast<const float*>(rows.from) + at, row, wide + token * row);
  }
  const MutableView halves(dtype, all, context.scratch(bytes_of(dtype, all.elements())));
  convert(context.parallel(), TensorView(DType::float32, all, wide), halves);
  return {halves.raw(), token_strides(rows.length, cache[3], row), rows.length};
}

}  // namespace

AppendedRows present_cache(RunContext& context, int past, int output, DType dtype, const Shape& shape,
                           std::span<const int64_t> past_lengths, const NewRows& rows) {
  AppendedRows all{.dtype = dtype, .shape = shape, .past_lengths = past_lengths};
  all.to = output >= 0 && context.has_output(output) ? context.output(output, dtype, shape).raw()
                                                     : context.scratch(bytes_of(dtype, shape.elements()));
  if (context.has_input(past)) {
    all.past = context.input(past).raw();
    all.past_capacity = context.input(past).shape()[2];
  }
  all.rows = is_half(dtype) ? narrowed_rows(context, dtype, shape, rows) : rows;
  return all;
}

}  // namespace rh::cpu
