#include "base/thread_memory.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <thread>

#include "base/out_of_memory.h"

namespace rh {

namespace {

constexpr size_t kLargePage = 2 << 20;
constexpr size_t kLargePages =
    256 << 10;  // from which on small pages, scattered over the sets of the caches, cost more than the rest of a large one
constexpr int kTrimming = -(1 << 30);

struct Registry {
  std::mutex mutex;
  ThreadMemory* first = nullptr;
  std::atomic<int> uses{0};
};

Registry& registry() {
  static Registry& one = *new Registry;  // outlives every thread
  return one;
}

}  // namespace

ThreadMemory::ThreadMemory() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  next_ = all.first;
  if (next_) next_->previous_ = this;
  all.first = this;
}

ThreadMemory::~ThreadMemory() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  (previous_ ? previous_->next_ : all.first) = next_;
  if (next_) next_->previous_ = previous_;
  release();
}

void ThreadMemory::release() noexcept { memory_ = {}; }

void* ThreadMemory::grow(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (bytes <= memory_.bytes()) return memory_.data();
  const size_t room = bytes >= kLargePages ? (bytes + kLargePage - 1) / kLargePage * kLargePage : bytes + bytes / 4;
  memory_ = {};
  try {
    memory_ = bytes >= kLargePages ? PageMemory::in_large_pages(room) : PageMemory(room);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(room, "the working memory of a thread");
  }
  return memory_.data();
}

ThreadMemoryUse::ThreadMemoryUse() noexcept {
  std::atomic<int>& uses = registry().uses;
  uses.fetch_add(1, std::memory_order_acquire);
  while (uses.load(std::memory_order_acquire) < 0) std::this_thread::yield();
}

ThreadMemoryUse::~ThreadMemoryUse() { registry().uses.fetch_sub(1, std::memory_order_release); }

size_t trim_thread_memory() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  int none = 0;
  if (!all.uses.compare_exchange_strong(none, kTrimming, std::memory_order_acquire)) return 0;
  size_t bytes = 0;
  for (ThreadMemory* at = all.first; at; at = at->next_) {
    bytes += at->bytes();
    at->release();
  }
  all.uses.fetch_sub(kTrimming, std::memory_order_release);
  return bytes;
}

size_t thread_memory_bytes() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  int none = 0;
  if (!all.uses.compare_exchange_strong(none, kTrimming, std::memory_order_acquire)) return 0;
  size_t bytes = 0;
  for (const ThreadMemory* at = all.first; at; at = at->next_) bytes += at->bytes();
  all.uses.fetch_sub(kTrimming, std::memory_order_release);
  return bytes;
}

}  // namespace rh
