#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "base/error.h"

namespace rh {

/// What may stop work under way: a flag that other threads set, and a time limit. Many threads may ask at once.
class Cancellation {
 public:
  using Clock = std::chrono::steady_clock;

  /// No flag (null), no limit: never. Where the flag stops work, the error is of `code` with `message`, which is not copied. The limit
  /// counts from here.
  Cancellation(const std::atomic<bool>* flag, ErrorCode code, const char* message, std::optional<std::chrono::milliseconds> limit = {});

  /// Throws Error where the flag is set or the time is over.
  void check() const {
    if (flagged() || late()) stop();
  }

 private:
  bool flagged() const { return flag_ && flag_->load(std::memory_order_relaxed); }
  bool late() const { return limit_ && Clock::now() >= deadline_; }
  [[noreturn]] void stop() const;

  const std::atomic<bool>* flag_;
  ErrorCode code_;
  const char* message_;
  std::optional<std::chrono::milliseconds> limit_;
  Clock::time_point deadline_{};
};

/// What may stop the work of this thread; null: nothing. Pieces of a loop have that of the thread that began the loop.
const Cancellation* current_cancellation();

/// Throws where the work of this thread is to stop. A few nanoseconds; loops that take long call it at least each few milliseconds.
inline void throw_if_cancelled() {
  if (const Cancellation* cancellation = current_cancellation()) cancellation->check();
}

/// While it lives, `cancellation` is the thread's; then the one before.
class CancellationScope {
 public:
  explicit CancellationScope(const Cancellation* cancellation);
  ~CancellationScope();
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  const Cancellation* before_;
};

/// A comparison for sorting that looks now and then whether to stop.
template <typename Compare>
class Interruptible {
 public:
  explicit Interruptible(Compare compare) : compare_(compare) {}
  template <typename T>
  bool operator()(const T& a, const T& b) {
    if ((++calls_ & 0xffff) == 0) throw_if_cancelled();
    return compare_(a, b);
  }

 private:
  Compare compare_;
  unsigned calls_ = 0;
};

}  // namespace rh
