#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>

namespace rh {

/// A vector of trivially copyable elements whose first N need no allocation.
template <typename T, size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  InlineVector() = default;
  InlineVector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  explicit InlineVector(std::span<const T> values) { assign(values.begin(), values.end()); }
  InlineVector(size_t count, T value) { resize(count, value); }
  template <std::input_iterator It>
  InlineVector(It first, It last) {
    assign(first, last);
  }
  InlineVector(const InlineVector& other) { assign(other.begin(), other.end()); }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }

  template <typename It>
  void assign(It first, It last) {
    size_ = 0;
    reserve(static_cast<size_t>(std::distance(first, last)));
    for (; first != last; ++first) data()[size_++] = static_cast<T>(*first);
  }
  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    std::unique_ptr<T[]> grown(new T[capacity]);
    std::copy(begin(), end(), grown.get());
    heap_ = std::move(grown);
    capacity_ = capacity;
  }
  void resize(size_t size, T value = T()) {
    reserve(size);
    for (size_t i = size_; i < size; ++i) data()[i] = value;
    size_ = size;
  }
  void push_back(T value) {
    if (size_ == capacity_) reserve(2 * capacity_);
    data()[size_++] = value;
  }
  void insert(size_t position, T value) {
    push_back(value);
    std::rotate(begin() + position, end() - 1, end());
  }
  void erase(size_t position) {
    assert(position < size_);
    std::copy(begin() + position + 1, end(), begin() + position);
    --size_;
  }
  void pop_back() {
    assert(size_ > 0);
    --size_;
  }
  void clear() { size_ = 0; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ ? heap_.get() : inline_; }
  const T* data() const { return heap_ ? heap_.get() : inline_; }
  T& operator[](size_t i) {
    assert(i < size_);
    return data()[i];
  }
  const T& operator[](size_t i) const {
    assert(i < size_);
    return data()[i];
  }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& front() { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size_ - 1]; }
  operator std::span<const T>() const { return {data(), size_}; }

  friend bool operator==(const InlineVector& a, const InlineVector& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  void take(InlineVector& other) {
    heap_ = std::move(other.heap_);
    capacity_ = heap_ ? other.capacity_ : N;
    size_ = other.size_;
    if (!heap_) std::copy(other.inline_, other.inline_ + size_, inline_);
    other.size_ = 0;
    other.capacity_ = N;
  }

  size_t size_ = 0;
  size_t capacity_ = N;
  T inline_[N];
  std::unique_ptr<T[]> heap_;
};

}  // namespace rh
