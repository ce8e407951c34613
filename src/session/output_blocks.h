#pragma once

#include <cstddef>
#include <list>
#include <mutex>

#include "base/pages.h"

namespace rh {

/// From this size on, outputs lie in large pages, which are kept for the next run once their owners let go of them: below it the heap does.
inline constexpr size_t kLeastOutputBlock = size_t{2} << 20;

/// Memory of a session's large outputs: never more than a quarter beyond what was out at one time. Thread-safe.
class OutputBlocks {
 public:
  /// Lists, so that they change hands without taking memory.
  using Blocks = std::list<PageMemory>;

  /// An idle block that is large enough and not much too large; none where there is no such. Of equals the one that was in use last, which
  /// caches still hold.
  Blocks take_idle(size_t bytes) noexcept;
  /// Counts a new block as out. What must go to stay within bounds is returned, and counted no longer.
  Blocks make_room(size_t bytes) noexcept;
  /// A block that is out is not any more: it is kept, or else left in `block` to be freed.
  void give_back(Blocks& block, size_t bytes) noexcept;
  /// All that is idle, counted no longer; with `for_good` nothing is kept from now on.
  Blocks drop(bool for_good = false) noexcept;

 private:
  std::mutex mutex_;
  Blocks idle_;  // the longest idle first
  size_t idle_bytes_ = 0, out_bytes_ = 0, most_out_ = 0;
  bool keeps_ = true;
};

/// What a block for an output of so many bytes has, rounded so that sizes that differ little share blocks.
size_t output_block_bytes(size_t bytes);

}  // namespace rh
