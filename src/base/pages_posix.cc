#include "base/pages.h"

#include <algorithm>
#include <cstdint>

#if defined(__linux__)
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#endif

#include "base/aligned.h"
#include "base/out_of_memory.h"

namespace rh {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPage = 4096;  // where the system's are larger, what is done page by page is done more often than needed

void* heap_allocate(size_t bytes) {
  if (bytes > kMoreThanMemory) throw OutOfMemory(bytes);
  void* data = allocate_aligned(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (!data) throw OutOfMemory(bytes);
  return data;
}

#if defined(__linux__)

constexpr size_t kFromSystem = 128 << 10;
constexpr size_t kLargePage = 2 << 20;

bool from_system(size_t bytes) { return bytes >= kFromSystem; }

void* map(size_t bytes) {
  void* data = bytes > kMoreThanMemory ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw OutOfMemory(bytes);
  return data;
}

// From the start of a large page on; at most kMoreThanMemory bytes.
void* map_large(size_t bytes) {
  constexpr size_t kPage = 4096;
  const size_t whole = (bytes + kPage - 1) / kPage * kPage, more = whole + kLargePage;
  char* begin = static_cast<char*>(map(more));
  const size_t before = (kLargePage - reinterpret_cast<uintptr_t>(begin) % kLargePage) % kLargePage;
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + whole, more - before - whole);
  ::madvise(begin + before, whole, MADV_HUGEPAGE);  // a wish: without it the memory serves as well
  return begin + before;
}

#endif

}  // namespace

#if defined(__linux__)

PageMemory PageMemory::in_large_pages(size_t bytes) {
  if (bytes < kLargePage || bytes > kMoreThanMemory) return PageMemory(bytes);
  PageMemory memory;
  memory.data_ = map_large(bytes);
  memory.bytes_ = bytes;
  return memory;
}

void PageMemory::release() noexcept {
  if (from_system(bytes_)) {
    ::munmap(data_, bytes_);
  } else {
    free_aligned(data_);
  }
  data_ = nullptr;
  bytes_ = 0;
}

void PageMemory::resize(size_t bytes) {
  if (from_system(bytes_) && from_system(bytes) && bytes <= kMoreThanMemory) {
    if (void* moved = ::mremap(data_, bytes_, bytes, MREMAP_MAYMOVE); moved != MAP_FAILED) {
      data_ = moved;
      bytes_ = bytes;
      return;
    }
  }
  release();
  if (bytes == 0) return;
  data_ = bytes >= kLargePage && bytes <= kMoreThanMemory ? map_large(bytes) : from_system(bytes) ? map(bytes) : heap_allocate(bytes);
  bytes_ = bytes;
}

void PageMemory::shorten(size_t bytes) {
  constexpr size_t kSystemPage = 64 << 10;  // at most
  const size_t kept = (bytes + kSystemPage - 1) / kSystemPage * kSystemPage;
  if (!from_system(bytes_) || !from_system(kept) || kept >= bytes_) return;
  ::munmap(static_cast<std::byte*>(data_) + kept, bytes_ - kept);
  bytes_ = kept;
}

#else

PageMemory PageMemory::in_large_pages(size_t bytes) { return PageMemory(bytes); }

void PageMemory::shorten(size_t) {}

void PageMemory::release() noexcept {
  free_aligned(data_);
  data_ = nullptr;
  bytes_ = 0;
}

void PageMemory::resize(size_t bytes) {
  release();
  if (bytes == 0) return;
  data_ = heap_allocate(bytes);
  bytes_ = bytes;
}

#endif

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(__linux__)
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) / kLargePage * kLargePage;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

void touch_pages(void* memory, size_t bytes) {
  std::byte* const begin = static_cast<std::byte*>(memory);
#if defined(MADV_POPULATE_WRITE)
  const size_t before = (kPage - reinterpret_cast<uintptr_t>(memory) % kPage) % kPage;
  if (bytes > before && ::madvise(begin + before, bytes - before, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (size_t at = 0; at < bytes; at += kPage) static_cast<volatile std::byte*>(begin)[at] = std::byte{0};
}

void populate_pages([[maybe_unused]] const void* memory, [[maybe_unused]] size_t bytes) {
#if defined(MADV_POPULATE_READ)
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory) / kPage * kPage, end = reinterpret_cast<uintptr_t>(memory) + bytes;
  if (bytes != 0) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_READ);
#endif
}

void trim_heap() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

size_t free_heap_bytes() {
#if defined(__GLIBC__)
  struct Counts {  // struct mallinfo2, which glibc has from 2.33 on
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
  };
  const auto counts = reinterpret_cast<Counts (*)()>(::dlsym(RTLD_DEFAULT, "mallinfo2"));
  return counts ? counts().fordblks : 0;
#else
  return 0;
#endif
}

}  // namespace rh
