#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
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
  /// Gives what lies behind the first `bytes`, which stay as and where they are, back to the system, where it takes parts back.
  void shorten(size_t bytes);

 private:
  void release() noexcept;

  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Large pages that several blocks share, one behind the other, 64-byte aligned.
class PageChunk : public std::enable_shared_from_this<PageChunk> {
 public:
  /// Whether room that is not used costs nothing, and close() gives it back.
#if defined(__linux__)
  static constexpr bool kGivesBack = true;
#else
  static constexpr bool kGivesBack = false;
#endif

  /// Throws std::bad_alloc.
  static std::shared_ptr<PageChunk> make(size_t bytes) { return std::shared_ptr<PageChunk>(new PageChunk(bytes)); }

  /// Null where no room is left. The chunk lives as long as its blocks; the room of the last one is free again once that is let go of.
  /// Thread-safe.
  std::shared_ptr<std::byte> take(size_t bytes);
  size_t free_bytes() const { return room_.load() - std::min(room_.load(), used_.load()); }
  /// Has the system give all of its pages at once. To be called before the first take().
  void touch();
  /// Takes no more blocks, and keeps no room for them.
  void close();

 private:
  explicit PageChunk(size_t bytes) : memory_(PageMemory::in_large_pages(bytes)), room_(bytes) {}

  PageMemory memory_;
  std::atomic<size_t> used_{0}, room_;
};

/// Asks for large pages for memory that is yet to be touched; a wish.
void prefer_large_pages(void* memory, size_t bytes);

/// Has the system give the pages of fresh memory at once, which is cheaper than one by one at first touch.
void touch_pages(void* memory, size_t bytes);

/// Has the system bring these bytes of a mapped file at once, which is cheaper than page by page at first reading; a wish.
void populate_pages(const void* memory, size_t bytes);

/// Gives free memory that the heap holds on to back to the system, where the heap can.
void trim_heap();
/// Free memory that the heap holds on to; 0 where it does not tell.
size_t free_heap_bytes();

}  // namespace rh
