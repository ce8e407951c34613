#include "session/prepare_memory.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "base/pages.h"
#include "base/thread_memory.h"

namespace rh {

namespace {

constexpr size_t kAlways = size_t{16} << 20;
constexpr size_t kMost = size_t{64} << 20;  // of more, the pages take a small part of a run
constexpr size_t kLargePage = size_t{2} << 20;
constexpr size_t kLeastPacked = size_t{4} << 20;   // kernels of smaller weights need little scratch memory
constexpr size_t kMuchPacked = size_t{32} << 20;   // those of larger ones need more than a large page of it
constexpr size_t kLeastWeights = size_t{4} << 20;  // of smaller models a large page would be a great part

/// Each thread must come for its own page: who has one waits for the others to come, though not for long, for they may be busy.
void prepare_threads(const Parallel& parallel, int large_pages) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLongest = std::chrono::milliseconds(1);
  const ThreadMemoryUse use;
  std::atomic<int> here{0};
  parallel.for_pieces(parallel.threads(), [&](int64_t) {
    here.fetch_add(1);
    const auto end = Clock::now() + kLongest;
    while (here.load() < parallel.threads() && Clock::now() < end) std::this_thread::yield();
    prepare_thread_memory(large_pages);
  });
}

/// The bytes of output `k` where it will lie in a block of the account; else 0.
size_t block_of_output(const Plan& plan, size_t k) {
  const Slot& slot = plan.slots[static_cast<size_t>(plan.outputs[k])];
  const BufferSize& size = plan.output_sizes[k];
  if (slot.kind != Slot::Kind::output || plan.places[static_cast<size_t>(slot.place)].owner) return 0;
  if (size.elements != SizeProgram::kNone || size.constant < 0) return 0;
  const int64_t bytes = size.bytes(size.constant);
  return bytes < static_cast<int64_t>(kLeastOutputBlock) ? 0 : static_cast<size_t>(bytes);
}

void prepare_outputs(const Plan& plan, MemoryAccount& account, size_t most, const Parallel& parallel) {
  std::vector<OutputBlocks::Blocks> made(plan.outputs.size());
  try {
    for (size_t k = 0; k < made.size(); ++k) {
      const size_t bytes = block_of_output(plan, k), block = output_block_bytes(bytes);
      if (bytes == 0 || block > most) continue;
      made[k] = account.take_output(bytes);
      touch_pages(made[k].front().data(), made[k].front().bytes(), parallel);
      most -= block;
    }
  } catch (const std::bad_alloc&) {
    // The run will say so.
  }
  for (OutputBlocks::Blocks& block : made) account.give_output_back(std::move(block));
}

}  // namespace

void touch_pages(void* memory, size_t bytes, const Parallel& parallel) {
  const int64_t pieces = static_cast<int64_t>((bytes + kLargePage - 1) / kLargePage);
  parallel.for_pieces(pieces, [&](int64_t i) {
    const size_t begin = static_cast<size_t>(i) * kLargePage;
    touch_pages(static_cast<std::byte*>(memory) + begin, std::min(kLargePage, bytes - begin));
  });
}

void prepare_memory(Frame& frame, const Parallel& parallel) try {
  const Plan& plan = frame.plan();
  if (frame.account()->source()) return;
  const size_t packed = plan.packed_bytes(), weights = plan.constant_bytes() + packed;
  if (plan.sizes.symbols() != 0) {
    if (weights >= kLeastWeights) frame.prepare_small_arena();
    return;
  }
  size_t room = std::clamp(weights, kAlways, kMost);
  room -= frame.prepare_arena(room, parallel);
  const size_t page_each = static_cast<size_t>(parallel.threads()) * kLargePage;
  if (packed >= kLeastPacked && page_each <= room) {
    const int large_pages = packed >= kMuchPacked && 2 * page_each <= room ? 2 : 1;
    prepare_threads(parallel, large_pages);
    room -= static_cast<size_t>(large_pages) * page_each;
  }
  prepare_outputs(plan, *frame.account(), room, parallel);
} catch (const std::bad_alloc&) {
  // The run will say so.
}

}  // namespace rh
