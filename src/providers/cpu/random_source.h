#pragma once

#include <atomic>
#include <bit>
#include <optional>
#include <random>

#include "compute/random.h"

namespace rh::cpu {

/// Numbers that kernels draw at a time, on the stack.
inline constexpr int64_t kRandomBlock = 256;

/// The random numbers of a kernel: a stream a run. With a seed the streams are the same ones in every session.
class RandomSource {
 public:
  explicit RandomSource(std::optional<float> seed) : seed_(seed ? std::bit_cast<uint32_t>(*seed) : drawn()) {}

  compute::RandomStream next() const { return {seed_, runs_.fetch_add(1, std::memory_order_relaxed)}; }

 private:
  static uint64_t drawn() {
    std::random_device device;
    return static_cast<uint64_t>(device()) << 32 | device();
  }

  uint64_t seed_;
  mutable std::atomic<uint64_t> runs_{0};
};

}  // namespace rh::cpu
