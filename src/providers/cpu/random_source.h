#pragma once

#include <atomic>
#include <bit>
#include <optional>
#include <random>

#include "base/random_seed.h"
#include "compute/random.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Numbers that kernels draw at a time, on the stack.
inline constexpr int64_t kRandomBlock = 256;

/// The random numbers of a kernel: a stream a run. With a seed of its own the streams are the same in every session; with that of the
/// process (set_random_seed) they are the same in sessions that have as many such kernels before it.
class RandomSource {
 public:
  RandomSource(const KernelInfo& info, std::optional<float> seed) : seed_(seed ? std::bit_cast<uint32_t>(*seed) : session_seed(info)) {}

  compute::RandomStream next() const { return {seed_, runs_.fetch_add(1, std::memory_order_relaxed)}; }
  /// A seed for another generator, a new one each run.
  uint32_t next_seed() const { return static_cast<uint32_t>(mixed_seed(seed_, runs_.fetch_add(1, std::memory_order_relaxed))); }

 private:
  static uint64_t session_seed(const KernelInfo& info) {
    if (const std::optional<uint64_t> seed = random_seed()) return mixed_seed(*seed, info.next_random_number());
    std::random_device device;
    return static_cast<uint64_t>(device()) << 32 | device();
  }

  uint64_t seed_;
  mutable std::atomic<uint64_t> runs_{0};
};

}  // namespace rh::cpu
