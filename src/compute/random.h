#pragma once

#include <array>
#include <cstdint>

namespace rh::compute {

/// Random numbers by position: the same seed, stream and index give the same number, in whatever order or thread. Philox4x32-10 of Salmon,
/// Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
class RandomStream {
 public:
  RandomStream(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}

  std::array<uint32_t, 4> block(uint64_t index) const;
  /// In [0, 1), a multiple of 2^-bits; at most 53 bits.
  double uniform(uint64_t index, int bits = 53) const;
  /// Of the standard normal distribution.
  double normal(uint64_t index) const;

 private:
  uint64_t seed_, stream_;
};

}  // namespace rh::compute
