#include <cstdint>

#include "base/aligned.h"
#include "base/out_of_memory.h"
#include "base/pages.h"
#include "base/system_windows.h"

namespace rh {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPage = 4096;
constexpr size_t kFromSystem = 128 << 10;

bool from_system(size_t bytes) { return bytes >= kFromSystem; }

void* allocate(size_t bytes) {
  void* data = nullptr;
  if (bytes <= kMoreThanMemory) {
    data = from_system(bytes) ? VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE)
                              : allocate_aligned(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  }
  if (!data) throw OutOfMemory(bytes);
  return data;
}

}  // namespace

// Large pages need a right that users rarely have.
PageMemory PageMemory::in_large_pages(size_t bytes) { return PageMemory(bytes); }

void PageMemory::release() noexcept {
  if (from_system(bytes_)) {
    VirtualFree(data_, 0, MEM_RELEASE);
  } else {
    free_aligned(data_);
  }
  data_ = nullptr;
  bytes_ = 0;
}

void PageMemory::resize(size_t bytes) {
  release();
  if (bytes == 0) return;
  data_ = allocate(bytes);
  bytes_ = bytes;
}

// The addresses stay taken until the rest is let go of.
void PageMemory::shorten(size_t bytes) {
  const size_t kept = (bytes + kPage - 1) / kPage * kPage;
  if (!from_system(bytes_) || !from_system(kept) || kept >= bytes_) return;
  VirtualFree(static_cast<std::byte*>(data_) + kept, bytes_ - kept, MEM_DECOMMIT);
  bytes_ = kept;
}

void prefer_large_pages(void*, size_t) {}

void touch_pages(void* memory, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kPage) static_cast<volatile std::byte*>(memory)[at] = std::byte{0};
}

void populate_pages(const void* memory, size_t bytes) {
  if (bytes == 0) return;
  WIN32_MEMORY_RANGE_ENTRY range{const_cast<void*>(memory), bytes};
  PrefetchVirtualMemory(GetCurrentProcess(), 1, &range, 0);
}

void trim_heap() {}

size_t free_heap_bytes() { return 0; }

}  // namespace rh
