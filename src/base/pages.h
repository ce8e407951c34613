#pragma once

#include <cstddef>
#include <utility>

namespace rh {

/// A piece of zeroed or stale memory, 64-byte aligned, that can grow without touching its pages anew. Large pieces come from the system and
/// go back to it at once; small ones from the heap.
class PageMemory {
 public:
  PageMemory() = default;
  /// Throws std::bad_alloc.
  explicit PageMemory(size_t bytes) { resize(bytes); }
  /// In large pages where the system has them, for what is written whole and read often. Throws std::bad_alloc.
  static PageMemory in_large_pages(size_t bytes);
  ~PageMemory() { release(); }
  PageMemory(PageMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  PageMemory& operator=(PageMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  /// What was in it is lost. Throws std::bad_alloc, and is then empty.
  void resize(size_t bytes);

 private:
  void release() noexcept;

  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Asks for large pages for memory that is yet to be touched; a wish.
void prefer_large_pages(void* memory, size_t bytes);

/// Has the system give the pages of fresh memory at once, which is cheaper than one by one at first touch.
void touch_pages(void* memory, size_t bytes);

/// Has the system bring these bytes of a mapped file at once, which is cheaper than page by page at first reading; a wish.
void populate_pages(const void* memory, size_t bytes);

/// Gives free memory that the heap holds on to back to the system, where the heap can.
void trim_heap();

}  // namespace rh
