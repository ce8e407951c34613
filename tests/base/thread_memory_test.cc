#include "base/thread_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>

namespace rh {
namespace {

constexpr size_t kKiB = 1024;

bool all_are(const void* memory, int value, size_t bytes) {
  const unsigned char* at = static_cast<const unsigned char*>(memory);
  for (size_t i = 0; i < bytes; ++i) {
    if (at[i] != value) return false;
  }
  return true;
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

}  // namespace
}  // namespace rh
