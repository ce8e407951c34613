#include "base/shared_bytes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fork_mutex.h"

namespace rh {

/// This thread's scope.
struct Packing {
  static inline thread_local PackingScope* scope = nullptr;

  static Parallel parallel() { return scope ? scope->parallel_ : Parallel(); }
  static PackingScope* of_run() { return scope && scope->run_memory_ ? scope : nullptr; }
  static std::shared_ptr<void> take_memory(size_t bytes) { return scope ? scope->take_memory(bytes) : nullptr; }
  static void note(const void* memory, size_t bytes) {
    if (scope) scope->shared_.emplace_back(static_cast<const std::byte*>(memory), bytes);
  }
};

namespace {

// Smaller pieces are not worth an entry.
constexpr size_t kLeast = 4096;
constexpr int kSamples = 64;
// With fewer, what is left of the last large page would be too much beside them. With more, large pages take long to get, and what is
// large by itself has them anyway.
constexpr size_t kLeastInPages = 8 << 20, kMostInPages = 64 << 20;

struct Entry {
  std::weak_ptr<const void> memory;
  size_t bytes = 0;
};

struct Shard {
  ForkMutex mutex;
  std::unordered_multimap<uint64_t, Entry> entries;
  size_t next_sweep = 64;

  void sweep() {
    if (entries.size() < next_sweep) return;
    std::erase_if(entries, [](const auto& entry) { return entry.second.memory.expired(); });
    next_sweep = std::max<size_t>(64, 2 * entries.size());
  }
};

constexpr size_t kShards = 16;

// Outlives all who share.
constinit ForkOnce<std::array<Shard, kShards>> g_shards;
std::array<Shard, kShards>& shards() { return g_shards.get(); }

std::atomic<size_t> pieces_made{0}, pieces_found{0};
thread_local KeptBytes* t_keeper = nullptr;

std::shared_ptr<const void> found(std::shared_ptr<const void> memory) {
  pieces_found.fetch_add(1, std::memory_order_relaxed);
  if (t_keeper) t_keeper->keep(memory);
  return memory;
}

// A key, not a proof: candidates are compared byte by byte. Samples keep it cheap, however large the memory.
uint64_t key_of(const void* memory, size_t bytes) {
  if (bytes < 64) return bytes;
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

// What has this key and size and lives.
std::vector<std::shared_ptr<const void>> candidates(Shard& shard, uint64_t key, size_t bytes) {
  std::vector<std::shared_ptr<const void>> live;
  const std::lock_guard lock(shard.mutex);
  const auto [begin, end] = shard.entries.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    if (at->second.bytes != bytes) continue;
    if (auto there = at->second.memory.lock()) live.push_back(std::move(there));
  }
  return live;
}

// Enters the memory, unless somebody entered the same in the meantime.
std::shared_ptr<const void> enter(uint64_t key, std::shared_ptr<const void> memory, size_t bytes) {
  Shard& shard = shards()[key % kShards];
  const std::lock_guard lock(shard.mutex);
  const auto [begin, end] = shard.entries.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    if (at->second.bytes != bytes) continue;
    auto there = at->second.memory.lock();
    if (there && (there == memory || std::memcmp(there.get(), memory.get(), bytes) == 0)) return found(std::move(there));
  }
  shard.sweep();
  shard.entries.emplace(key, Entry{memory, bytes});
  pieces_made.fetch_add(1, std::memory_order_relaxed);
  if (t_keeper) t_keeper->keep(memory);
  return memory;
}

bool has_pieces(const void* memory, const Pieces& pieces, const Parallel& parallel) {
  std::atomic<bool> equal{true};
  const double bytes = static_cast<double>(pieces.begin(pieces.count)) / static_cast<double>(pieces.count);
  parallel.for_range(static_cast<int64_t>(pieces.count), {.bytes = 2 * bytes, .operations = bytes / 4}, [&](Range range) {
    PageMemory piece;
    for (int64_t i = range.begin; i < range.end && equal.load(std::memory_order_relaxed); ++i) {
      const size_t index = static_cast<size_t>(i), at = pieces.begin(index), size = pieces.begin(index + 1) - at;
      if (piece.bytes() < size) piece.resize(size);
      pieces.write(index, piece.data());
      if (size != 0 && std::memcmp(piece.data(), static_cast<const std::byte*>(memory) + at, size) != 0) equal = false;
    }
  });
  return equal;
}

}  // namespace

std::shared_ptr<void> packing_memory(size_t bytes) {
  if (const PackingScope* run = Packing::of_run()) {
    constexpr size_t kVector = 64;  // a whole one may be read at the end
    return {std::shared_ptr<void>(), run->run_memory(bytes + kVector)};
  }
  if (std::shared_ptr<void> part = Packing::take_memory(bytes)) return part;
  const auto memory = std::make_shared<PageMemory>(PageMemory::in_large_pages(bytes));
  return {memory, memory->data()};
}

std::shared_ptr<const void> share_bytes(std::shared_ptr<const void> memory, size_t bytes) {
  if (!memory || bytes < kLeast || Packing::of_run()) return memory;
  const uint64_t key = key_of(memory.get(), bytes);
  std::shared_ptr<const void> shared = enter(key, std::move(memory), bytes);
  Packing::note(shared.get(), bytes);
  return shared;
}

std::shared_ptr<const void> share_pieces(const Pieces& pieces, size_t slack, const Parallel& given) {
  const Parallel parallel = given.threads() > 1 ? given : Packing::parallel();
  const size_t bytes = pieces.begin(pieces.count);
  const std::shared_ptr<void> memory = packing_memory(bytes + slack);
  uint64_t key = 0;
  size_t written = 0;
  const bool shares = bytes >= kLeast && !Packing::of_run();
  if (shares) {  // the first piece, untouched pages behind it, tells whether there may be others with these bytes
    pieces.write(0, memory.get());
    written = 1;
    key = key_of(memory.get(), pieces.begin(1)) ^ (bytes * 0x9e3779b97f4a7c15u + 1);
    for (auto& there : candidates(shards()[key % kShards], key, bytes)) {
      if (!has_pieces(there.get(), pieces, parallel)) continue;
      Packing::note(there.get(), bytes);
      return found(std::move(there));
    }
  }
  const double piece = static_cast<double>(bytes) / static_cast<double>(std::max<size_t>(1, pieces.count));
  parallel.for_range(static_cast<int64_t>(pieces.count - written), {.bytes = 2 * piece, .operations = piece / 4}, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const size_t index = static_cast<size_t>(i) + written;
      pieces.write(index, static_cast<std::byte*>(memory.get()) + pieces.begin(index));
    }
  });
  if (!shares) return memory;
  std::shared_ptr<const void> shared = enter(key, memory, bytes);
  Packing::note(shared.get(), bytes);
  return shared;
}

void KeptBytes::keep(const std::shared_ptr<const void>& memory) {
  const std::lock_guard lock(mutex_);
  kept_.emplace(memory.get(), memory);
}

size_t KeptBytes::pieces() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

KeepingScope::KeepingScope(KeptBytes* keeper) : before_(t_keeper) { t_keeper = keeper; }
KeepingScope::~KeepingScope() { t_keeper = before_; }

PackingScope::PackingScope(const Parallel& parallel, size_t bytes)
    : parallel_(parallel),
      may_have_pages_(PageChunk::kGivesBack && bytes >= kLeastInPages && bytes <= kMostInPages),
      before_(std::exchange(Packing::scope, this)) {}

PackingScope::PackingScope(const Parallel& parallel, RunMemory memory)
    : parallel_(parallel), may_have_pages_(false), run_memory_(memory), before_(std::exchange(Packing::scope, this)) {}

PackingScope* PackingScope::current_of_run() { return Packing::of_run(); }

void PackingScope::use_pages() {
  if (Packing::scope) Packing::scope->has_pages_ = Packing::scope->may_have_pages_;
}

PackingScope::~PackingScope() {
  if (pages_) pages_->close();
  Packing::scope = before_;
}

std::shared_ptr<void> PackingScope::take_memory(size_t bytes) {
  constexpr size_t kChunk = kMostInPages, kLargestPart = kChunk / 4;
  if (!has_pages_ || bytes > kLargestPart) return nullptr;
  if (pages_) {
    if (std::shared_ptr<std::byte> part = pages_->take(bytes)) return part;
    pages_->close();
  }
  try {
    pages_ = PageChunk::make(kChunk);
  } catch (const std::bad_alloc&) {  // there may still be room for the part by itself
    pages_ = nullptr;
    has_pages_ = false;
    return nullptr;
  }
  return pages_->take(bytes);
}

std::vector<std::span<const std::byte>> PackingScope::take_shared() {
  return Packing::scope ? std::exchange(Packing::scope->shared_, {}) : std::vector<std::span<const std::byte>>();
}

SharedBytes shared_bytes() {
  SharedBytes sum;
  sum.made = pieces_made.load(std::memory_order_relaxed);
  sum.found = pieces_found.load(std::memory_order_relaxed);
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
