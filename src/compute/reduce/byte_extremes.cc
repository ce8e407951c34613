#include "compute/reduce/byte_extremes.h"

#include <algorithm>
#include <cstring>

namespace rh::compute {

namespace {

// Loops of a fixed length become vectors of any processor's own instructions.
constexpr int kAtOnce = 64, kLeastLanes = 16;

template <int kLanes>
void largest_of_block(const uint8_t* x, uint8_t flip, uint8_t* best) {
  for (int i = 0; i < kLanes; ++i) {
    const auto value = static_cast<uint8_t>(x[i] ^ flip);
    best[i] = best[i] > value ? best[i] : value;
  }
}

// Of kLanes bytes or more: the last block takes some a second time.
template <int kLanes>
uint8_t largest_by_blocks(const uint8_t* bytes, int64_t count, uint8_t flip) {
  uint8_t best[kLanes] = {};
  for (int64_t i = 0; i + kLanes < count; i += kLanes) largest_of_block<kLanes>(bytes + i, flip, best);
  largest_of_block<kLanes>(bytes + count - kLanes, flip, best);
  return largest_lane<kLanes>(best);
}

}  // namespace

uint8_t largest_byte(const void* x, int64_t count, uint8_t flip) {
  const auto* bytes = static_cast<const uint8_t*>(x);
  if (count >= kAtOnce) return largest_by_blocks<kAtOnce>(bytes, count, flip);
  if (count >= kLeastLanes) return largest_by_blocks<kLeastLanes>(bytes, count, flip);
  uint8_t best = 0;
  for (int64_t i = 0; i < count; ++i) best = std::max(best, static_cast<uint8_t>(bytes[i] ^ flip));
  return best;
}

void largest_bytes_down(const void* x, int64_t stride, int64_t rows, int64_t columns, uint8_t flip, uint8_t* best) {
  const auto* bytes = static_cast<const uint8_t*>(x);
  int64_t c = 0;
  for (; c + kAtOnce <= columns; c += kAtOnce) {
    uint8_t block[kAtOnce];
    std::copy_n(best + c, kAtOnce, block);
    for (int64_t row = 0; row < rows; ++row) largest_of_block<kAtOnce>(bytes + row * stride + c, flip, block);
    std::copy_n(block, kAtOnce, best + c);
  }
  for (int64_t row = 0; row < rows && c < columns; ++row) {
    for (int64_t k = c; k < columns; ++k) best[k] = std::max(best[k], static_cast<uint8_t>(bytes[row * stride + k] ^ flip));
  }
}

int64_t find_byte(const void* x, int64_t count, uint8_t value, bool last) {
  const auto* bytes = static_cast<const uint8_t*>(x);
  if (!last) return static_cast<const uint8_t*>(std::memchr(bytes, value, static_cast<size_t>(count))) - bytes;
  int64_t i = count - 1;
  while (i > 0 && bytes[i] != value) --i;
  return i;
}

}  // namespace rh::compute
