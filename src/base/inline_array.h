#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <memory>
#include <span>

namespace rh {

/// Values of a number that is known when it is made; up to N need no allocation.
template <typename T, size_t N>
class InlineArray {
 public:
  explicit InlineArray(size_t size) : size_(size), more_(size > N ? new T[size]() : nullptr) {}

  T* data() { return more_ ? more_.get() : few_.data(); }
  T& operator[](size_t i) {
    assert(i < size_);
    return data()[i];
  }
  operator std::span<T>() { return {data(), size_}; }

 private:
  size_t size_;
  std::array<T, N> few_{};
  std::unique_ptr<T[]> more_;
};

}  // namespace rh
