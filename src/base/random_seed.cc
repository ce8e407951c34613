#include "base/random_seed.h"

#include <atomic>

namespace rh {

namespace {

std::atomic<uint64_t> g_seed{0};
std::atomic<bool> g_is_set{false};

}  // namespace

void set_random_seed(int64_t seed) {
  g_seed.store(static_cast<uint64_t>(seed), std::memory_order_relaxed);
  g_is_set.store(true, std::memory_order_release);
}

std::optional<uint64_t> random_seed() {
  if (!g_is_set.load(std::memory_order_acquire)) return std::nullopt;
  return g_seed.load(std::memory_order_relaxed);
}

uint64_t mixed_seed(uint64_t seed, uint64_t number) {
  uint64_t z = seed + 0x9e3779b97f4a7c15u * (number + 1);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

}  // namespace rh
