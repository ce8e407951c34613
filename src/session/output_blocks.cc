#include "session/output_blocks.h"

#include <algorithm>

#include "base/aligned.h"
#include "base/out_of_memory.h"

namespace rh {

size_t output_block_bytes(size_t bytes) {
  constexpr size_t kStep = 256 << 10;
  if (bytes > kMoreThanMemory) throw OutOfMemory(bytes, "a tensor");
  return (bytes + kStep - 1) / kStep * kStep;
}

OutputBlocks::Blocks OutputBlocks::take_idle(size_t bytes) noexcept {
  Blocks taken;
  const std::lock_guard lock(mutex_);
  auto best = idle_.end();
  for (auto at = idle_.begin(); at != idle_.end(); ++at) {
    if (at->bytes() >= bytes && at->bytes() <= bytes + bytes / 4 && (best == idle_.end() || at->bytes() <= best->bytes())) best = at;
  }
  if (best == idle_.end()) return taken;
  idle_bytes_ -= best->bytes();
  out_bytes_ += best->bytes();
  most_out_ = std::max(most_out_, out_bytes_);
  taken.splice(taken.end(), idle_, best);
  return taken;
}

OutputBlocks::Blocks OutputBlocks::make_room(size_t bytes) noexcept {
  Blocks dropped;
  const std::lock_guard lock(mutex_);
  out_bytes_ += bytes;
  most_out_ = std::max(most_out_, out_bytes_);
  while (!idle_.empty() && out_bytes_ + idle_bytes_ > most_out_ + most_out_ / 4) {
    idle_bytes_ -= idle_.front().bytes();
    dropped.splice(dropped.end(), idle_, idle_.begin());
  }
  return dropped;
}

void OutputBlocks::give_back(Blocks& block, size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  out_bytes_ -= bytes;
  if (!keeps_ || block.empty()) return;
  idle_bytes_ += bytes;
  idle_.splice(idle_.end(), block);
}

OutputBlocks::Blocks OutputBlocks::drop(bool for_good) noexcept {
  Blocks dropped;
  const std::lock_guard lock(mutex_);
  if (for_good) keeps_ = false;
  idle_bytes_ = 0;
  most_out_ = out_bytes_;
  dropped.swap(idle_);
  return dropped;
}

}  // namespace rh
