#pragma once

#include <cstddef>
#include <memory>

#include "base/pages.h"

namespace rh {

/// Constant memory that those who share one content have once in the process: what is given, or, where memory with the same bytes is shared
/// already, that. The bytes must not change afterwards. Thread-safe.
std::shared_ptr<const void> share_bytes(std::shared_ptr<const void> memory, size_t bytes);

/// The same of an array of floats or the like.
template <typename T>
std::shared_ptr<const T[]> share_array(std::shared_ptr<T[]> array, size_t count) {
  const std::shared_ptr<const void> shared = share_bytes(array, count * sizeof(T));
  return std::shared_ptr<const T[]>(shared, static_cast<const T*>(shared.get()));
}

/// An array that shares its memory so, with its size.
template <typename T>
class SharedArray {
 public:
  SharedArray() = default;
  SharedArray(std::shared_ptr<T[]> array, size_t count) : array_(share_array(std::move(array), count)), size_(count) {}

  const T* data() const { return array_.get(); }
  size_t size() const { return size_; }

 private:
  std::shared_ptr<const T[]> array_;
  size_t size_ = 0;
};

/// Uninitialised, 64-byte aligned; goes back to the system when the last owner lets go of it. Throws std::bad_alloc.
template <typename T>
std::shared_ptr<T[]> aligned_array(size_t count) {
  const auto memory = std::make_shared<PageMemory>(count * sizeof(T));
  return std::shared_ptr<T[]>(memory, static_cast<T*>(memory->data()));
}

/// How many pieces are shared now, and their bytes, each counted once.
struct SharedBytes {
  size_t pieces = 0;
  size_t bytes = 0;
};
SharedBytes shared_bytes();

}  // namespace rh
