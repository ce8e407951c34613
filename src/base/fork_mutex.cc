#include "base/fork_mutex.h"

#include <chrono>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace rh {

/// All of them. A fork takes none while it waits for another, so that their order does not matter.
class ForkMutexes {
 public:
  constexpr ForkMutexes() = default;

  void add(ForkMutex& mutex) {
    const std::lock_guard lock(list_);
    if (mutex.listed_.load(std::memory_order_relaxed)) return;
    mutex.next_ = first_;
    if (first_) first_->previous_ = &mutex;
    first_ = &mutex;
    mutex.listed_.store(true, std::memory_order_release);
  }

  void remove(ForkMutex& mutex) {
    const std::lock_guard lock(list_);
    if (!mutex.listed_.load(std::memory_order_relaxed)) return;
    (mutex.previous_ ? mutex.previous_->next_ : first_) = mutex.next_;
    if (mutex.next_) mutex.next_->previous_ = mutex.previous_;
  }

  void lock_all() {
    constexpr std::chrono::seconds kMostPatience{5};
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      list_.lock();
      const bool all = try_all();
      if (all || std::chrono::steady_clock::now() - begin > kMostPatience) return;
      unlock_all();
      std::this_thread::yield();
    }
  }

  void unlock_all() {
    for (ForkMutex* mutex = first_; mutex; mutex = mutex->next_) {
      if (!mutex->locked_for_fork_) continue;
      mutex->locked_for_fork_ = false;
      mutex->mutex_.unlock();
    }
    list_.unlock();
  }

 private:
  // What the forking thread itself holds, the child's own thread holds as well. Out of patience, the others are locked all the same.
  bool try_all() {
    bool all = true;
    for (ForkMutex* mutex = first_; mutex; mutex = mutex->next_) {
      if (mutex->owner_.load(std::memory_order_relaxed) == &ForkMutex::t_mark) continue;
      mutex->locked_for_fork_ = mutex->mutex_.try_lock();
      all = all && mutex->locked_for_fork_;
    }
    return all;
  }

  std::mutex list_;
  ForkMutex* first_ = nullptr;
};

namespace {

constinit ForkMutexes g_all;

#if defined(__unix__) || defined(__APPLE__)
[[maybe_unused]] const int g_registered = pthread_atfork([] { g_all.lock_all(); }, [] { g_all.unlock_all(); }, [] { g_all.unlock_all(); });
#endif

}  // namespace

void ForkMutex::list() { g_all.add(*this); }
void ForkMutex::unlist() { g_all.remove(*this); }

}  // namespace rh
