#pragma once

#include <cstdint>
#include <type_traits>

/// Largest and smallest bytes, signed or not: all as the largest of unsigned bytes of which bits are flipped.
namespace rh::compute {

/// The bits by which bytes of T become such that their order is that of unsigned bytes, or its reverse.
template <typename T>
constexpr uint8_t byte_flip(bool largest) {
  return static_cast<uint8_t>((std::is_signed_v<T> ? 0x80 : 0) ^ (largest ? 0 : 0xFF));
}

/// The largest of so many bytes, a power of two, halves by halves.
template <int kLanes>
uint8_t largest_lane(const uint8_t* x) {
  if constexpr (kLanes == 1) {
    return *x;
  } else {
    constexpr int kHalf = kLanes / 2;
    uint8_t best[kHalf];
    for (int i = 0; i < kHalf; ++i) best[i] = x[i] > x[i + kHalf] ? x[i] : x[i + kHalf];
    return largest_lane<kHalf>(best);
  }
}

/// The largest x[i] ^ flip; 0 of nothing.
uint8_t largest_byte(const void* x, int64_t count, uint8_t flip);
/// best[c] = the largest of itself and of x[c + row * stride] ^ flip in so many rows.
void largest_bytes_down(const void* x, int64_t stride, int64_t rows, int64_t columns, uint8_t flip, uint8_t* best);
/// The place of the first, or last, byte that equals `value`, which is among them.
int64_t find_byte(const void* x, int64_t count, uint8_t value, bool last);

}  // namespace rh::compute
