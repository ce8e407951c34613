#pragma once

#include <atomic>
#include <mutex>

namespace rh {

/// A mutex that no child of a fork finds locked by a thread that it does not have: a fork waits until other threads have let go of all of
/// these, for a few seconds at most. For what all sessions of a process share. This one is never destroyed: a local static needs no guard.
class ForkMutex {
 public:
  constexpr ForkMutex() = default;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock() {
    if (!listed_.load(std::memory_order_acquire)) list();
    mutex_.lock();
    owner_.store(&t_mark, std::memory_order_relaxed);
  }
  void unlock() {
    owner_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
  }

 protected:
  void unlist();

 private:
  friend class ForkMutexes;
  void list();

  static inline thread_local char t_mark = 0;  ///< at another address in each thread, and at the same one in the child of a fork

  std::mutex mutex_;
  std::atomic<const char*> owner_{nullptr};
  std::atomic<bool> listed_{false};  ///< a fork knows it: from its first use on
  bool locked_for_fork_ = false;     ///< with the list of all of them locked
  ForkMutex* next_ = nullptr;
  ForkMutex* previous_ = nullptr;
};

/// One of an object that does not live for ever.
class MemberForkMutex : public ForkMutex {
 public:
  ~MemberForkMutex() { unlist(); }
};

/// What is made at its first use and never destroyed; no child of a fork finds it half made. A local static would have its guard held
/// there.
template <typename T>
class ForkOnce {
 public:
  constexpr ForkOnce() = default;
  ForkOnce(const ForkOnce&) = delete;
  ForkOnce& operator=(const ForkOnce&) = delete;

  /// `make` gives the value, at the first call alone; where it throws, at the next one again.
  template <typename Make>
  T& get(Make&& make) {
    if (T* made = value_.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(mutex_);
    if (T* made = value_.load(std::memory_order_relaxed)) return *made;
    T* const made = new T(make());
    value_.store(made, std::memory_order_release);
    return *made;
  }
  T& get() {
    return get([] { return T(); });
  }

 private:
  ForkMutex mutex_;
  std::atomic<T*> value_{nullptr};
};

}  // namespace rh
