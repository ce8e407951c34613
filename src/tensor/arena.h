#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "tensor/tensor.h"

namespace rh {

/// Memory that is kept beyond its use, until it is asked for.
class ShrinkableAllocator : public Allocator {
 public:
  /// Gives back what nobody uses.
  virtual void shrink() = 0;
  /// The same for allocators of the same memory, which sessions share; null: none does.
  virtual const void* pool() const { return nullptr; }
};

/// Bounds of an arena, as OrtArenaCfg names them.
struct ArenaSettings {
  enum class Growth { next_power_of_two, same_as_requested };
  size_t max_bytes = 0;  ///< of all regions together; 0: no limit
  Growth growth = Growth::next_power_of_two;
  size_t initial_chunk_bytes = size_t{1} << 20;     ///< the first region
  size_t max_dead_bytes = size_t{128} << 20;        ///< a chunk with more to spare is split
  size_t initial_growth_bytes = size_t{2} << 20;    ///< the first region after a shrink
  size_t max_power_of_two_bytes = size_t{1} << 30;  ///< regions do not double beyond that
};

/// Counters of an arena.
struct ArenaStatistics {
  size_t limit = 0, in_use = 0, requested_in_use = 0, total_allocated = 0, max_in_use = 0, max_allocation = 0;
  int64_t allocations = 0, reserves = 0, extensions = 0, shrinkages = 0;
};

/// Gives pieces of regions that it takes from another allocator and keeps. Addresses of that one must be such that can be added to; the
/// regions themselves are never touched. A freed piece may be given out again at once. Thread-safe.
class Arena final : public ShrinkableAllocator {
 public:
  explicit Arena(std::shared_ptr<Allocator> source, const ArenaSettings& settings = {});
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Throws Error{fail} where the limit does not allow it, and what the source throws.
  void* allocate(size_t bytes) override;
  void deallocate(void* memory) override;
  Device device() const override { return source_->device(); }
  /// A block of its own, outside the regions: for what stays. Goes by deallocate() as well.
  void* reserve(size_t bytes);
  /// Gives regions without a piece in use back.
  void shrink() override;
  ArenaStatistics statistics() const;

 private:
  using Free = std::set<std::pair<size_t, uintptr_t>>;
  struct Chunk {
    size_t bytes = 0;
    size_t requested = 0;
    uintptr_t region = 0;
    bool in_use = false;
    Free::node_type entry = {};  ///< of a chunk in use: for when it is freed, which takes no memory
  };
  using Chunks = std::map<uintptr_t, Chunk>;

  void extend(size_t bytes);
  void add_free(uintptr_t start, size_t bytes, uintptr_t region);
  Chunks::iterator merge(Chunks::iterator left, Chunks::iterator right);
  void* take(Chunks::iterator chunk, size_t bytes, size_t requested);

  std::shared_ptr<Allocator> source_;
  const ArenaSettings settings_;
  mutable std::mutex mutex_;
  Chunks chunks_;                        // by address
  Free free_;                            // by size
  std::map<uintptr_t, size_t> regions_;  // their sizes
  std::unordered_map<void*, size_t> reserved_;
  size_t next_region_bytes_;
  ArenaStatistics statistics_;
};

}  // namespace rh
