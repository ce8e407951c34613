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
  /// In [0, 1), multiples of 2^-bits for 1 to 53 bits: those of `count` indices from `first` on.
  void uniform(uint64_t first, int64_t count, int bits, double* out) const;
  /// low + width u, u in [0, 1) and a multiple of 2^-24: number n is of word n % 4 of block n / 4.
  void uniform(uint64_t first, int64_t count, float low, float width, float* out) const;
  /// The same number of block n of the standard normal distribution, of two uniform numbers of 53 bits each.
  void normal(uint64_t first, int64_t count, double* out) const;

 private:
  uint64_t seed_, stream_;
};

}  // namespace rh::compute
