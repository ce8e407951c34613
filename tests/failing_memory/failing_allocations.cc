#include "failing_memory/failing_allocations.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> left{0};  // allocations until one fails; 0: none does
std::atomic<bool> goes_on{false}, any_failed{false};

bool fails() {
  if (left.load(std::memory_order_relaxed) == 0) return false;
  const int64_t before = left.fetch_sub(1, std::memory_order_relaxed);
  if (before > 1) return false;
  if (before < 1 && !goes_on) {
    left.store(-1, std::memory_order_relaxed);
    return false;
  }
  any_failed = true;
  return true;
}

void* allocate(size_t bytes) noexcept { return fails() ? nullptr : std::malloc(bytes ? bytes : 1); }

void* allocate_aligned(size_t bytes, std::align_val_t alignment) noexcept {
  void* memory = nullptr;
  if (fails() || ::posix_memalign(&memory, static_cast<size_t>(alignment), bytes ? bytes : 1) != 0) return nullptr;
  return memory;
}

void* or_throw(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

namespace rh::test {

FailingAllocations::FailingAllocations(int64_t n, bool on) : n_(n) {
  goes_on = on;
  any_failed = false;
  left = n;
}

void FailingAllocations::stop() {
  if (count_ >= 0) return;
  count_ = count();
  left = 0;
}
bool FailingAllocations::failed() const { return any_failed; }
int64_t FailingAllocations::count() const { return count_ >= 0 ? count_ : n_ - left; }

}  // namespace rh::test

void* operator new(size_t bytes) { return or_throw(allocate(bytes)); }
void* operator new[](size_t bytes) { return or_throw(allocate(bytes)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new(size_t bytes, std::align_val_t alignment) { return or_throw(allocate_aligned(bytes, alignment)); }
void* operator new[](size_t bytes, std::align_val_t alignment) { return or_throw(allocate_aligned(bytes, alignment)); }
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept { return allocate_aligned(bytes, alignment); }
void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_aligned(bytes, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

// The linker gives these the calls of the library (--wrap).
extern "C" {

void* __real_aligned_alloc(size_t alignment, size_t bytes);
void* __real_mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset);
void* __real_mremap(void* address, size_t bytes, size_t new_bytes, int flags, ...);

void* __wrap_aligned_alloc(size_t alignment, size_t bytes) { return fails() ? nullptr : __real_aligned_alloc(alignment, bytes); }

void* __wrap_mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (!fails()) return __real_mmap(address, bytes, protection, flags, file, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

void* __wrap_mremap(void* address, size_t bytes, size_t new_bytes, int flags, ...) {
  if (!fails()) return __real_mremap(address, bytes, new_bytes, flags);
  errno = ENOMEM;
  return MAP_FAILED;
}

}  // extern "C"
