#include "base/thread_memory.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <thread>

#include "base/fork_mutex.h"
#include "base/out_of_memory.h"

namespace rh {

namespace {

constexpr size_t kLargePage = 2 << 20;
constexpr size_t kLargePages =
    256 << 10;  // from which on small pages, scattered over the sets of the caches, cost more than the rest of a large one
constexpr size_t kLargestPart = 1 << 20;  // of a large page that is made for blocks to share
constexpr size_t kLeastPart = 32 << 10;   // of pages that are there anyway
constexpr size_t kPartStep = 64 << 10;
constexpr int kTrimming = -(1 << 30);

struct Registry {
  ForkMutex mutex;
  ThreadMemory* first = nullptr;
  std::atomic<int> uses{0};
};

// Outlives every thread.
constinit ForkOnce<Registry> g_registry;
Registry& registry() { return g_registry.get(); }

thread_local std::weak_ptr<PageChunk> shared_page;

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
  pages_ = nullptr;
  data_ = nullptr;
  bytes_ = 0;
}

void* ThreadMemory::grow(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (bytes <= bytes_) return data_;
  size_t room = bytes >= kLargePages ? (bytes + kPartStep - 1) / kPartStep * kPartStep : bytes + bytes / 4;
  try {
    const bool is_part = bytes >= kLeastPart && take_part(room, bytes >= kLargePages && bytes <= kLargestPart);
    if (!is_part) {
      release();
      if (bytes > kLargestPart) room = (bytes + kLargePage - 1) / kLargePage * kLargePage;
      auto pages = std::make_shared<PageMemory>(bytes > kLargestPart ? PageMemory::in_large_pages(room) : PageMemory(room));
      data_ = static_cast<std::byte*>(pages->data());
      bytes_ = room;
      pages_ = std::move(pages);
    }
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(room, "the working memory of a thread");
  }
  return data_;
}

bool ThreadMemory::take_part(size_t bytes, bool make_page) {
  std::shared_ptr<PageChunk> page = shared_page.lock();
  release();  // what lies at the end grows where it is
  std::shared_ptr<std::byte> part = page ? page->take(bytes) : nullptr;
  if (!part && !make_page) return false;
  if (!part) {
    page = PageChunk::make(kLargePage);
    shared_page = page;
    part = page->take(bytes);
  }
  data_ = part.get();
  bytes_ = bytes;
  pages_ = std::move(part);
  return true;
}

void prepare_thread_memory(int large_pages) {
  thread_local ThreadMemory keeper;
  size_t bytes = static_cast<size_t>(large_pages) * kLargePage;
  std::shared_ptr<PageChunk> page = shared_page.lock();
  if (page) bytes -= kLargePage;
  if (page && page->free_bytes() >= bytes) return;
  page = PageChunk::make(bytes);
  page->touch();
  shared_page = page;
  keeper.pages_ = std::move(page);
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
