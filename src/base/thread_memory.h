#pragma once

#include <cstddef>
#include <memory>

#include "base/pages.h"

namespace rh {

/// Memory that a thread keeps between uses: a thread_local, known to trim_thread_memory. Used only while a ThreadMemoryUse lives wherever
/// that is called.
class ThreadMemory {
 public:
  ThreadMemory();
  ~ThreadMemory();
  ThreadMemory(const ThreadMemory&) = delete;
  ThreadMemory& operator=(const ThreadMemory&) = delete;

  /// At least `bytes`, never null, 64-byte aligned; what was in it is lost where it grows. Throws std::bad_alloc.
  void* grow(size_t bytes);
  void release() noexcept;
  size_t bytes() const { return bytes_; }

 private:
  friend void prepare_thread_memory(int large_pages);
  friend size_t trim_thread_memory();
  friend size_t thread_memory_bytes();

  /// `bytes` of the large pages that blocks of this thread share, where there is room, or where a page is to be made. False where there is
  /// none; the block is empty then.
  bool take_part(size_t bytes, bool make_page);

  std::shared_ptr<void> pages_;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  ThreadMemory* next_ = nullptr;
  ThreadMemory* previous_ = nullptr;
};

/// As long as one lives, the memory of threads stays. They may be inside each other.
class ThreadMemoryUse {
 public:
  ThreadMemoryUse() noexcept;
  ~ThreadMemoryUse();
  ThreadMemoryUse(const ThreadMemoryUse&) = delete;
  ThreadMemoryUse& operator=(const ThreadMemoryUse&) = delete;
};

/// Has the system give so many large pages for the blocks of the calling thread to share, the one that there may be counted; they stay
/// until trim_thread_memory or the thread's end. Throws std::bad_alloc.
void prepare_thread_memory(int large_pages);

/// Gives back the memory of all threads, unless a ThreadMemoryUse lives; returns how many bytes blocks had.
size_t trim_thread_memory();
size_t thread_memory_bytes();

}  // namespace rh
