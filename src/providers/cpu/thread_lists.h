#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "compute/scratch.h"

namespace rh::cpu {

/// Lists that a piece of a kernel's loop may hold at once.
enum class ThreadList : uint8_t { first, second, third };

/// Memory of the calling thread (compute/scratch.h) as that many elements, uninitialised. The next call with the same list gives the same
/// memory. Throws std::bad_alloc.
template <typename T>
std::span<T> thread_list(ThreadList list, int64_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr compute::ScratchSlot kSlots[] = {compute::ScratchSlot::first_list, compute::ScratchSlot::second_list,
                                             compute::ScratchSlot::third_list};
  const size_t size = static_cast<size_t>(count);
  return {static_cast<T*>(compute::thread_scratch(kSlots[static_cast<size_t>(list)], size * sizeof(T))), size};
}

/// The same, all of one value.
template <typename T>
std::span<T> thread_list(ThreadList list, int64_t count, T value) {
  const std::span<T> made = thread_list<T>(list, count);
  std::fill(made.begin(), made.end(), value);
  return made;
}

/// A list in memory of somebody's, which has room for all that will be in it.
template <typename T>
class BoundedList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit BoundedList(std::span<T> memory) : memory_(memory) {}

  void push_back(const T& value) { memory_[size_++] = value; }
  void clear() { size_ = 0; }
  /// What is new is not set.
  void resize(size_t size) { size_ = size; }
  void assign(std::initializer_list<T> values) {
    clear();
    for (const T& value : values) push_back(value);
  }
  void erase(size_t begin, size_t end) {
    std::copy(memory_.begin() + end, memory_.begin() + size_, memory_.begin() + begin);
    size_ -= end - begin;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() const { return memory_.data(); }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }
  T& back() const { return memory_[size_ - 1]; }
  T& operator[](size_t i) const { return memory_[i]; }
  operator std::span<const T>() const { return memory_.first(size_); }

 private:
  std::span<T> memory_;
  size_t size_ = 0;
};

}  // namespace rh::cpu
