#include "compute/scratch.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/thread_memory.h"

namespace rh::compute {
namespace {

TEST(Scratch, NoBytesAreMemoryToo) {
  void* memory = nullptr;
  std::thread([&] {  // whose scratch nobody has used
    const ThreadMemoryUse use;
    memory = thread_scratch(ScratchSlot::row, 0);
  })
      .join();
  EXPECT_NE(memory, nullptr);
}

}  // namespace
}  // namespace rh::compute
