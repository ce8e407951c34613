#include "tensor/arena.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/error.h"

namespace rh::test {
namespace {

/// Host memory that can be used up, and that tells what is out.
struct Source final : Allocator {
  void* allocate(size_t bytes) override {
    if (bytes > room) throw std::bad_alloc();
    blocks.emplace_back(bytes);
    return host_allocator().allocate(bytes);
  }
  void deallocate(void* memory) override {
    ++freed;
    host_allocator().deallocate(memory);
  }
  std::vector<size_t> blocks;
  size_t freed = 0, room = SIZE_MAX;
};

constexpr size_t kMiB = 1 << 20;

// The figures are those of the same calls in ONNX Runtime 1.31.
TEST(Arena, DoublesItsRegionsAndCounts) {
  auto source = std::make_shared<Source>();
  Arena arena(source, {.max_bytes = 10 * kMiB, .initial_chunk_bytes = kMiB, .max_dead_bytes = 1024});
  void* a = arena.allocate(1000);
  EXPECT_EQ(arena.statistics().in_use, 1024u);
  EXPECT_EQ(arena.statistics().requested_in_use, 1000u);
  void* b = arena.allocate(700000);
  void* c = arena.allocate(700000);
  EXPECT_EQ(source->blocks, (std::vector<size_t>{kMiB, 2 * kMiB}));
  EXPECT_EQ(arena.statistics().in_use, 1401344u);
  EXPECT_EQ(arena.statistics().total_allocated, 3145728u);
  EXPECT_THROW(arena.allocate(9 * kMiB), Error);
  void* apart = arena.reserve(5000);
  EXPECT_EQ(arena.statistics().in_use, 1406344u);
  EXPECT_EQ(arena.statistics().total_allocated, 3150728u);
  arena.deallocate(b);
  EXPECT_EQ(arena.statistics().in_use, 706184u);
  arena.deallocate(c);
  arena.deallocate(a);
  arena.deallocate(apart);
  void* large = arena.allocate(3 * kMiB);
  const ArenaStatistics end = arena.statistics();
  EXPECT_EQ(end.total_allocated, 7340032u);
  EXPECT_EQ(end.max_in_use, 3145728u);
  EXPECT_EQ(end.max_allocation, 3145728u);
  EXPECT_EQ(end.allocations, 5);
  EXPECT_EQ(end.extensions, 3);
  EXPECT_EQ(end.reserves, 1);
  arena.deallocate(large);
}

TEST(Arena, GrowsByWhatIsAskedFor) {
  auto source = std::make_shared<Source>();
  Arena arena(source, {.growth = ArenaSettings::Growth::same_as_requested});
  void* a = arena.allocate(1000);
  void* b = arena.allocate(700000);
  EXPECT_EQ(source->blocks, (std::vector<size_t>{1024, 700160}));
  arena.deallocate(b);
  EXPECT_EQ(arena.allocate(600000), b);
  EXPECT_EQ(source->blocks.size(), 2u);
  arena.deallocate(a);
}

TEST(Arena, LeavesNoMoreThanItsDeadBytesUnused) {
  for (const size_t dead : {size_t{512}, 4 * kMiB}) {
    Arena arena(std::make_shared<Source>(), {.initial_chunk_bytes = kMiB, .max_dead_bytes = dead});
    arena.allocate(kMiB - 2048);
    EXPECT_EQ(arena.statistics().in_use, dead == 512 ? kMiB - 2048 : kMiB);
  }
}

TEST(Arena, ShrinksToWhatIsInUse) {
  auto source = std::make_shared<Source>();
  Arena arena(source, {.initial_chunk_bytes = kMiB, .initial_growth_bytes = 4 * kMiB});
  void* small = arena.allocate(100);
  void* large = arena.allocate(5 * kMiB);
  arena.deallocate(large);
  arena.shrink();
  EXPECT_EQ(source->freed, 1u);
  EXPECT_EQ(arena.statistics().total_allocated, kMiB);
  EXPECT_EQ(arena.statistics().shrinkages, 1);
  arena.deallocate(small);
  arena.shrink();
  EXPECT_EQ(arena.statistics().total_allocated, 0u);
  arena.allocate(100);
  EXPECT_EQ(source->blocks.back(), 4 * kMiB);
}

TEST(Arena, TakesNoMoreThanThereIs) {
  auto source = std::make_shared<Source>();
  source->room = 3000;
  Arena arena(source, {.initial_chunk_bytes = kMiB});
  EXPECT_NE(arena.allocate(2000), nullptr);  // the region that it wants is too large
  EXPECT_THROW(arena.allocate(4000), std::bad_alloc);
  EXPECT_THROW(arena.allocate(SIZE_MAX), std::bad_alloc);
  EXPECT_NE(arena.allocate(0), nullptr);
}

TEST(Arena, PiecesNeverOverlap) {
  auto source = std::make_shared<Source>();
  Arena arena(source, {.initial_chunk_bytes = 4096, .max_dead_bytes = 256});
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<unsigned char*, size_t>> held;
    for (int i = 0; i < 2000; ++i) {
      if (held.size() > 20 || (!held.empty() && random() % 3 == 0)) {
        const size_t at = random() % held.size();
        const auto [data, bytes] = held[at];
        for (size_t k = 0; k < bytes; ++k) ASSERT_EQ(data[k], static_cast<unsigned char>(seed));
        arena.deallocate(data);
        held.erase(held.begin() + static_cast<ptrdiff_t>(at));
      } else {
        const size_t bytes = 1 + random() % 3000;
        auto* data = static_cast<unsigned char*>(arena.allocate(bytes));
        ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % kTensorAlignment, 0u);
        std::fill_n(data, bytes, static_cast<unsigned char>(seed));
        held.emplace_back(data, bytes);
      }
      if (i % 500 == 0) arena.shrink();
    }
    for (const auto& [data, bytes] : held) arena.deallocate(data);
  };
  std::thread other([&] { work(7); });
  work(3);
  other.join();
  EXPECT_EQ(arena.statistics().in_use, 0u);
  arena.shrink();
  EXPECT_EQ(arena.statistics().total_allocated, 0u);
  EXPECT_EQ(source->freed, source->blocks.size());
}

}  // namespace
}  // namespace rh::test
