#include "base/pages.h"

#include <cstdlib>

#if defined(__linux__)
#include <malloc.h>
#include <sys/mman.h>
#endif

#include "base/out_of_memory.h"

namespace rh {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLargest = size_t{1} << 62;

void* heap_allocate(size_t bytes) {
  if (bytes > kLargest) throw OutOfMemory(bytes);
  void* data = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (!data) throw OutOfMemory(bytes);
  return data;
}

#if defined(__linux__)

constexpr size_t kFromSystem = 128 << 10;

bool from_system(size_t bytes) { return bytes >= kFromSystem; }

void* map(size_t bytes) {
  void* data = bytes > kLargest ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw OutOfMemory(bytes);
  return data;
}

#endif

}  // namespace

#if defined(__linux__)

void PageMemory::release() noexcept {
  if (from_system(bytes_)) {
    ::munmap(data_, bytes_);
  } else {
    std::free(data_);
  }
  data_ = nullptr;
  bytes_ = 0;
}

void PageMemory::resize(size_t bytes) {
  if (from_system(bytes_) && from_system(bytes) && bytes <= kLargest) {
    if (void* moved = ::mremap(data_, bytes_, bytes, MREMAP_MAYMOVE); moved != MAP_FAILED) {
      data_ = moved;
      bytes_ = bytes;
      return;
    }
  }
  release();
  if (bytes == 0) return;
  data_ = from_system(bytes) ? map(bytes) : heap_allocate(bytes);
  bytes_ = bytes;
}

#else

void PageMemory::release() noexcept {
  std::free(data_);
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

void trim_heap() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace rh
