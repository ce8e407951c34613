#include "session/block_cache.h"

#include <algorithm>

#include "base/aligned.h"
#include "base/out_of_memory.h"
#include "session/binding.h"

namespace rh {

namespace {

constexpr size_t kSmallestBlock = 256;
// Below this, what is kept is not worth the trouble.
constexpr size_t kAlwaysKept = 256 << 10;

}  // namespace

size_t block_bytes(size_t bytes) {
  if (bytes > kMoreThanMemory) throw OutOfMemory(bytes, "a tensor");
  return bytes <= kSmallestBlock ? kSmallestBlock : static_cast<size_t>(bucket(static_cast<int64_t>((bytes + 63) / 64 * 64)));
}

BlockCache::Block BlockCache::take(size_t bytes) {
  const size_t wanted = block_bytes(bytes);
  const size_t most = std::max(most_taken_, taken_bytes_ + wanted);
  const bool may_grow = bytes_within(most, wanted);
  const size_t limit = may_grow || device_ ? std::max<size_t>(4 * bytes, 4096) : kMoreThanMemory;
  auto best = idle_.end();
  for (auto at = idle_.begin(); at != idle_.end(); ++at) {
    if (at->bytes() >= bytes && at->bytes() <= limit && (best == idle_.end() || at->bytes() < best->bytes())) best = at;
  }
  Block block(account_, MemoryUse::late, device_);
  if (best != idle_.end()) {
    block = std::move(*best);
    idle_.erase(best);
    idle_bytes_ -= block.bytes();
  } else {
    if (!may_grow && !device_) drop_idle(wanted);
    idle_.reserve(++blocks_);  // so that give_back needs no memory
    try {
      block.resize(wanted);
    } catch (...) {
      --blocks_;
      throw;
    }
    ++allocations_;
  }
  taken_bytes_ += block.bytes();
  most_taken_ = std::max(most_taken_, taken_bytes_);
  return block;
}

bool BlockCache::bytes_within(size_t most, size_t wanted) const { return bytes() + wanted <= most + most / 4 + kAlwaysKept; }

void BlockCache::drop_idle(size_t wanted) {
  const size_t most = std::max(most_taken_, taken_bytes_ + wanted);
  auto at = idle_.begin();
  for (; at != idle_.end() && !bytes_within(most, wanted); ++at) {
    idle_bytes_ -= at->bytes();
    --blocks_;
    *at = Block();
  }
  idle_.erase(idle_.begin(), at);
}

void BlockCache::give_back(Block block) noexcept {
  taken_bytes_ -= block.bytes();
  idle_bytes_ += block.bytes();
  idle_.push_back(std::move(block));
}

}  // namespace rh
