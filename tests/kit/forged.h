#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace rh {

/// Changes bytes so that checksum_of() stays as it was: a word of its first lane, and the lane's next one, which undoes the change.
inline void forge(std::span<std::byte> bytes) {
  constexpr uint64_t kFactor = 0x9e3779b185ebca87, kOther = 0xc2b2ae3d27d4eb4f;
  constexpr size_t kNext = 32;
  const auto inverse = [](uint64_t of) {
    uint64_t found = of;
    for (int i = 0; i < 6; ++i) found *= 2 - of * found;  // Newton's, which doubles the bits that are right
    return found;
  };
  const auto spread = [&](uint64_t word) {
    word *= kFactor;
    word ^= word >> 32;
    return word * kOther;
  };
  const auto gathered = [&](uint64_t word) {
    word *= inverse(kOther);
    word ^= word >> 32;
    return word * inverse(kFactor);
  };
  uint64_t first = 0, next = 0;
  std::memcpy(&first, bytes.data(), sizeof first);
  std::memcpy(&next, bytes.data() + kNext, sizeof next);
  const auto lane_behind = [&](uint64_t word) { return std::rotl((bytes.size() ^ spread(word)) * kFactor, 29); };
  const uint64_t other = first ^ 1;
  next = gathered(spread(next) ^ lane_behind(first) ^ lane_behind(other));
  std::memcpy(bytes.data(), &other, sizeof other);
  std::memcpy(bytes.data() + kNext, &next, sizeof next);
}

}  // namespace rh
