#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace rh::cpu {

/// Objects with lists of their own that pieces of a kernel's loops borrow, so that later pieces find these lists grown. Thread-safe.
template <typename T>
class KeptObjects {
 public:
  /// A borrowed object, as whoever had it before left it; given back when this dies.
  class Loan {
   public:
    explicit Loan(const KeptObjects& all) : all_(all), object_(all.take()) {}
    ~Loan() { all_.give_back(std::move(object_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    T& operator*() const { return *object_; }
    T* operator->() const { return object_.get(); }

   private:
    const KeptObjects& all_;
    std::unique_ptr<T> object_;
  };

 private:
  std::unique_ptr<T> take() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      idle_.reserve(++made_);  // so that give_back needs no memory
      try {
        return std::make_unique<T>();
      } catch (...) {
        --made_;
        throw;
      }
    }
    std::unique_ptr<T> object = std::move(idle_.back());
    idle_.pop_back();
    return object;
  }
  void give_back(std::unique_ptr<T> object) const noexcept {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(object));
  }

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<T>> idle_;
  mutable size_t made_ = 0;
};

}  // namespace rh::cpu
