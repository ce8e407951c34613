#pragma once

#include <functional>
#include <memory>

#include "base/fork_mutex.h"
#include "base/thread_pool.h"

namespace rh {

/// Work that runs on threads of its own, begun in the order in which it came. Threads start as they are needed and end when there is
/// nothing to do.
class AsyncQueue {
 public:
  /// At most `most_running` pieces of work run at once.
  AsyncQueue(int most_running, const ThreadFunctions& functions);
  /// Waits for all that was added, except for what the calling thread itself is in.
  ~AsyncQueue();
  AsyncQueue(const AsyncQueue&) = delete;
  AsyncQueue& operator=(const AsyncQueue&) = delete;

  /// Calls work(), then done(), in one thread of the queue. A done() that waits for other work holds nothing up: it does not count as
  /// running. Neither may throw. Throws Error{fail} where no thread starts, and nothing is called then.
  void add(std::function<void()> work, std::function<void()> done);

 private:
  struct State;
  std::shared_ptr<State> state_of_process();

  MemberForkMutex mutex_;  ///< of the pointer
  std::shared_ptr<State> state_;
};

}  // namespace rh
