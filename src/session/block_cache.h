#pragma once

#include <cstdint>
#include <vector>

#include "session/memory_account.h"

namespace rh {

/// Memory in pieces that are kept for the next who asks: never more than a quarter beyond what was taken at one time. Not thread-safe.
class BlockCache {
 public:
  using Block = CountedMemory;
  /// `device` null: host memory.
  explicit BlockCache(MemoryAccount& account, Allocator* device = nullptr) : account_(account), device_(device) {}

  /// The smallest idle block that is large enough and not much too large, else a new one; a much larger one where new memory would be
  /// beyond bounds. Throws std::bad_alloc or OverBudget.
  Block take(size_t bytes);
  void give_back(Block block) noexcept;
  /// The run is over: idle blocks of a device go that are beyond bounds; until then its work may still use them.
  void settle() noexcept {
    if (device_) drop_idle(0);
  }

  size_t bytes() const { return idle_bytes_ + taken_bytes_; }
  int64_t allocations() const { return allocations_; }

 private:
  bool bytes_within(size_t most, size_t wanted) const;
  void drop_idle(size_t wanted);

  MemoryAccount& account_;
  Allocator* device_;
  std::vector<Block> idle_;  // the longest idle first
  size_t blocks_ = 0;
  size_t idle_bytes_ = 0, taken_bytes_ = 0, most_taken_ = 0;
  int64_t allocations_ = 0;
};

/// Rounded so that sizes that differ little share blocks. Throws std::bad_alloc where that is more than a machine has: sizes saturate.
size_t block_bytes(size_t bytes);

}  // namespace rh
