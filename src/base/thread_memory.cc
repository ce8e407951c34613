#include "base/thread_memory.h"

#include <atomic>
#include <mutex>
#include <new>
#include <thread>

#include "base/out_of_memory.h"

namespace rh {

namespace {

constexpr std::align_val_t kAlignment{64};
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

void ThreadMemory::release() noexcept {
  ::operator delete(data_, kAlignment);
  data_ = nullptr;
  bytes_ = 0;
}

void* ThreadMemory::grow(size_t bytes) {
  if (bytes <= bytes_) return data_;
  const size_t room = bytes + bytes / 4;
  void* larger = ::operator new(room, kAlignment, std::nothrow);
  if (!larger) throw OutOfMemory(room, "the working memory of a thread");
  release();
  data_ = larger;
  bytes_ = room;
  return data_;
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
