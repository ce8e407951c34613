#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace rh::fake_device {

/// Pieces of work that a thread does in order, each after a delay. What a piece throws is kept for the next who waits for it.
class Queue {
 public:
  explicit Queue(int64_t delay_us);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void submit(std::function<void()> piece);
  int64_t submitted() const;
  /// Until that many pieces are done; throws what one of them threw.
  void wait(int64_t count);
  /// Until all queues of the process have done what was submitted to them.
  static void drain_all();

 private:
  void work();
  void wait_quietly();

  int64_t delay_us_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> pieces_;
  int64_t submitted_ = 0, done_ = 0;
  bool closed_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace rh::fake_device
