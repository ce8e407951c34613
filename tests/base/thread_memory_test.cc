#include "base/thread_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "support/page_faults.h"
#include "support/sanitizers.h"

namespace rh {
namespace {

constexpr size_t kKiB = 1024;

bool all_are(const void* memory, int value, size_t bytes) {
  const unsigned char* at = static_cast<const unsigned char*>(memory);
  return bytes == 0 || (at[0] == value && std::memcmp(at, at + 1, bytes - 1) == 0);
}

TEST(ThreadMemory, BlocksThatGrowLeaveOthersAsTheyAre) {
  std::mt19937 random(3);
  std::array<ThreadMemory, 5> blocks;
  std::array<size_t, 5> sizes = {};
  for (int step = 0; step < 400; ++step) {
    const size_t k = random() % blocks.size();
    if (random() % 40 == 0) {
      blocks[k].release();
      sizes[k] = 0;
    }
    const size_t bytes = size_t{1} << (10 + random() % 12), least = bytes + random() % bytes;
    void* memory = blocks[k].grow(least);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    ASSERT_GE(blocks[k].bytes(), least);
    sizes[k] = std::max(sizes[k], least);
    std::memset(memory, static_cast<int>(k) + 1, sizes[k]);
    for (size_t other = 0; other < blocks.size(); ++other) {
      if (sizes[other] == 0) continue;
      ASSERT_TRUE(all_are(blocks[other].grow(1), static_cast<int>(other) + 1, sizes[other])) << step << ", " << other;
    }
  }
}

TEST(ThreadMemory, SmallBlocksOfAThreadShareALargePage) {
  std::array<ThreadMemory, 4> blocks;
  uintptr_t least = UINTPTR_MAX, most = 0;
  for (ThreadMemory& block : blocks) {
    for (size_t bytes = 256 * kKiB; bytes <= 448 * kKiB; bytes += 64 * kKiB) block.grow(bytes);
    const uintptr_t at = reinterpret_cast<uintptr_t>(block.grow(1));
    least = std::min(least, at);
    most = std::max(most, at + block.bytes());
  }
  EXPECT_LE(most - least, size_t{2} << 20);
}

#if defined(__linux__)
TEST(ThreadMemory, BlocksOfAPreparedThreadNeedNoPages) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers touch pages of their own";
  if (!test::takes_advice()) GTEST_SKIP() << "this system ignores advice";
  std::thread([] {
    std::array<ThreadMemory, 3> blocks;
    unsigned char* first = nullptr;
    {
      const ThreadMemoryUse use;
      prepare_thread_memory(1);
      const int64_t before = test::page_faults();
      for (size_t k = 0; k < blocks.size(); ++k) std::memset(blocks[k].grow((200 + 100 * k) * kKiB), 1, (200 + 100 * k) * kKiB);
      EXPECT_LE(test::page_faults() - before, 8) << "of 225 pages";
      first = static_cast<unsigned char*>(blocks[0].grow(1));
      prepare_thread_memory(1);
      EXPECT_EQ(blocks[0].grow(1), first);
    }
    EXPECT_GE(trim_thread_memory(), 900 * kKiB);
    unsigned char resident = 0;
    first -= reinterpret_cast<uintptr_t>(first) % 4096;
    EXPECT_NE(::mincore(first, 4096, &resident), 0) << "the page was not given back";
  }).join();
}

TEST(ThreadMemory, ABlockOfMoreThanHalfALargePageLiesInPreparedOnes) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers touch pages of their own";
  if (!test::takes_advice()) GTEST_SKIP() << "this system ignores advice";
  std::thread([] {
    std::array<ThreadMemory, 3> blocks;
    const ThreadMemoryUse use;
    prepare_thread_memory(2);
    const int64_t before = test::page_faults();
    for (size_t k = 0; k < blocks.size(); ++k) std::memset(blocks[k].grow((1100 + 50 * k) * kKiB), 1, (1100 + 50 * k) * kKiB);
    EXPECT_LE(test::page_faults() - before, 8) << "of 862 pages";
    blocks[0].release();
    unsigned char* const last = static_cast<unsigned char*>(blocks[2].grow(1));
    prepare_thread_memory(1);
    EXPECT_EQ(blocks[0].grow(40 * kKiB), last + blocks[2].bytes()) << "a page is there";
    prepare_thread_memory(2);
    blocks[0].release();
    const int64_t since = test::page_faults();
    std::memset(blocks[0].grow(1900 * kKiB), 1, 1900 * kKiB);
    EXPECT_LE(test::page_faults() - since, 8) << "and another one beside it";
  }).join();
}
#endif

}  // namespace
}  // namespace rh
