#include "base/shared_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

namespace rh {

namespace {

// Smaller pieces are not worth an entry.
constexpr size_t kLeast = 4096;
constexpr int kSamples = 64;

struct Entry {
  std::weak_ptr<const void> memory;
  size_t bytes = 0;
};

struct Shard {
  std::mutex mutex;
  std::unordered_multimap<uint64_t, Entry> entries;
  size_t next_sweep = 64;

  void sweep() {
    if (entries.size() < next_sweep) return;
    std::erase_if(entries, [](const auto& entry) { return entry.second.memory.expired(); });
    next_sweep = std::max<size_t>(64, 2 * entries.size());
  }
};

constexpr size_t kShards = 16;

Shard* shards() {
  static Shard* const all = new Shard[kShards];  // outlives all who share
  return all;
}

// A key, not a proof: candidates are compared byte by byte. Samples keep it cheap, however large the memory.
uint64_t key_of(const void* memory, size_t bytes) {
  const char* data = static_cast<const char*>(memory);
  uint64_t key = bytes * 0x9e3779b97f4a7c15u;
  for (int i = 0; i < kSamples; ++i) {
    const size_t at = (bytes - 64) / (kSamples - 1) * static_cast<size_t>(i);
    for (size_t word = 0; word < 64; word += 8) {
      uint64_t value = 0;
      std::memcpy(&value, data + at + word, sizeof(value));
      key = (key ^ value) * 0xff51afd7ed558ccdu;
      key ^= key >> 32;
    }
  }
  return key;
}

}  // namespace

std::shared_ptr<const void> share_bytes(std::shared_ptr<const void> memory, size_t bytes) {
  if (!memory || bytes < kLeast) return memory;
  const uint64_t key = key_of(memory.get(), bytes);
  Shard& shard = shards()[key % kShards];
  const std::lock_guard lock(shard.mutex);
  const auto [begin, end] = shard.entries.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    if (at->second.bytes != bytes) continue;
    auto there = at->second.memory.lock();
    if (there && (there == memory || std::memcmp(there.get(), memory.get(), bytes) == 0)) return there;
  }
  shard.sweep();
  shard.entries.emplace(key, Entry{memory, bytes});
  return memory;
}

SharedBytes shared_bytes() {
  SharedBytes sum;
  for (size_t s = 0; s < kShards; ++s) {
    const std::lock_guard lock(shards()[s].mutex);
    for (const auto& [key, entry] : shards()[s].entries) {
      if (entry.memory.expired()) continue;
      ++sum.pieces;
      sum.bytes += entry.bytes;
    }
  }
  return sum;
}

}  // namespace rh
