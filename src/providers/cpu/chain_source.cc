#include "providers/cpu/chain_source.h"

#include <algorithm>

#include "compute/elementwise/vector_math.h"
#include "compute/move/copy.h"

namespace rh::cpu {

namespace {

/// Elements [at, at + count) of [-second half, first half] of rows of `length`.
void rotate_halves(UnaryRow negate, const TensorView& x, int64_t length, int64_t at, int64_t count, char* y) {
  const int64_t half = length / 2, bytes = bits_of(x.dtype()) / 8;
  const char* from = static_cast<const char*>(x.raw());
  if (x.dtype() == DType::float32 && at % length == 0 && count % length == 0) {
    return compute::rotate_halves(reinterpret_cast<const float*>(from) + at, reinterpret_cast<float*>(y), count / length, half);
  }
  for (const int64_t end = at + count; at < end;) {
    const int64_t column = at % length;
    const bool is_first = column < half;
    const int64_t size = std::min(end - at, (is_first ? half : length) - column);
    if (is_first) {
      run_unary_row(negate, x.dtype(), from + (at + half) * bytes, y, size, nullptr);
    } else {
      compute::copy_bytes(from + (at - half) * bytes, y, static_cast<size_t>(size * bytes));
    }
    y += size * bytes;
    at += size;
  }
}

/// Elements [at, at + count) of [-x1, x0, -x3, x2, ...].
void rotate_pairs(UnaryRow negate, const TensorView& x, int64_t at, int64_t count, char* y) {
  const int64_t bytes = bits_of(x.dtype()) / 8, odd = 1 - at % 2;  // the first odd one from `at` on
  const char* from = static_cast<const char*>(x.raw()) + at * bytes;
  const int64_t negated = count - 1 + (at + count) % 2;  // those behind the even ones, and others, which are then replaced
  if (negated > 0) run_unary_row(negate, x.dtype(), from + bytes, y, negated, nullptr);
  if (x.dtype() == DType::float32) {
    const float* values = reinterpret_cast<const float*>(from);
    float* to = reinterpret_cast<float*>(y);
    for (int64_t i = odd; i < count; i += 2) to[i] = values[i - 1];
    return;
  }
  for (int64_t i = odd; i < count; i += 2) compute::copy_bytes(from + (i - 1) * bytes, y + i * bytes, static_cast<size_t>(bytes));
}

}  // namespace

void ChainSource::rotate(const TensorView& input, int64_t length, bool pairs) {
  rotated_ = input;
  rotated_length_ = length;
  pairs_ = pairs;
  negate_ = row_of(ops::Unary::Function::neg, input.dtype());
}

Place ChainSource::tile(int64_t at, int64_t count, char* room) const {
  if (rotated_length_ == 0) return tiles_.tile(at, count, room);
  if (pairs_)
    rotate_pairs(negate_, rotated_, at, count, room);
  else
    rotate_halves(negate_, rotated_, rotated_length_, at, count, room);
  return {room, 1};
}

}  // namespace rh::cpu
