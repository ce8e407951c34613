#pragma once

#include <bit>
#include <cstdint>

namespace rh::compute {

/// A number whose order among unsigned numbers is that of the values; both zeros are one. NaN has no place in it.
inline uint32_t ordered_key(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/// A key and, for those that are equal, the place.
inline uint64_t ranked(uint32_t key, uint32_t place) { return uint64_t{key} << 32 | place; }
inline uint32_t place_of(uint64_t ranked) { return static_cast<uint32_t>(ranked); }

/// Puts the k least of `count` in order at the front of `values`, k <= count; what lies behind them is lost. Equal upper halves must
/// come by rising lower halves. `scratch` holds `count` values.
void rank_least(uint64_t* values, int64_t count, int64_t k, uint64_t* scratch);

}  // namespace rh::compute
