#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace rh::kit {

/// What runs need of an executable that does not go side by side: blocks, requests of the vendor. A run takes one, alone, and gives it
/// back; at most so many are made, then runs wait. Thread-safe.
template <typename T>
class LeasePool {
 public:
  using Make = std::function<std::unique_ptr<T>()>;
  LeasePool(size_t most, Make make) : most_(most > 0 ? most : 1), make_(std::move(make)) {}
  LeasePool(const LeasePool&) = delete;
  LeasePool& operator=(const LeasePool&) = delete;

  /// What a run has of the pool, until it ends. Whoever works on with it, a stream, keeps the lease meanwhile. The pool outlives it.
  class Lease {
   public:
    Lease(LeasePool& pool, std::unique_ptr<T> thing) : pool_(&pool), thing_(std::move(thing)) {}
    Lease(Lease&& other) noexcept : pool_(other.pool_), thing_(std::move(other.thing_)), is_broken_(other.is_broken_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (thing_) pool_->give_back(is_broken_ ? nullptr : std::move(thing_));
    }
    T& operator*() const { return *thing_; }
    T* operator->() const { return thing_.get(); }
    /// It is not to be used again: the next who wants one gets a new one.
    void set_broken() { is_broken_ = true; }

   private:
    LeasePool* pool_;
    std::unique_ptr<T> thing_;
    bool is_broken_ = false;
  };

  /// Waits while all are taken. Throws what making throws; then the next may try.
  Lease take() {
    std::unique_lock lock(mutex_);
    given_back_.wait(lock, [&] { return !free_.empty() || made_ < most_; });
    if (!free_.empty()) {
      std::unique_ptr<T> thing = std::move(free_.back());
      free_.pop_back();
      return Lease(*this, std::move(thing));
    }
    ++made_;
    lock.unlock();
    try {
      return Lease(*this, make_());
    } catch (...) {
      give_back(nullptr);
      throw;
    }
  }

  size_t made() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }

 private:
  void give_back(std::unique_ptr<T> thing) {
    {
      const std::lock_guard lock(mutex_);
      free_.reserve(most_);
      if (thing) {
        free_.push_back(std::move(thing));
      } else {
        --made_;
      }
    }
    given_back_.notify_one();
  }

  const size_t most_;
  const Make make_;
  mutable std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<T>> free_;
  size_t made_ = 0;
};

}  // namespace rh::kit
