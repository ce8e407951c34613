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

}  // namespace

void ChainSource::rotate(const TensorView& input, int64_t length) {
  rotated_ = input;
  rotated_length_ = length;
  negate_ = row_of(ops::Unary::Function::neg, input.dtype());
}

Place ChainSource::tile(int64_t at, int64_t count, char* room) const {
  if (rotated_length_ == 0) return tiles_.tile(at, count, room);
  rotate_halves(negate_, rotated_, rotated_length_, at, count, room);
  return {room, 1};
}

}  // namespace rh::cpu
