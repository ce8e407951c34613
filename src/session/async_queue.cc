#include "session/async_queue.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/process.h"
#include "base/start_thread.h"

namespace rh {

namespace {

constexpr std::chrono::milliseconds kLinger{20};  // what an idle thread waits for more work

ThreadFunctions own_threads() {
  return {[](void (*work)(void*), void* parameter) -> const void* {
            try {
              return new std::thread(rh::start_thread([=] { work(parameter); }));
            } catch (const std::exception&) {  // no thread or no memory
              return nullptr;
            }
          },
          [](const void* handle) {
            const std::unique_ptr<std::thread> thread(static_cast<std::thread*>(const_cast<void*>(handle)));
            thread->get_id() == std::this_thread::get_id() ? thread->detach() : thread->join();
          }};
}

}  // namespace

struct AsyncQueue::State : std::enable_shared_from_this<State> {
  struct Job {
    std::function<void()> work, done;
  };
  struct Thread {
    std::shared_ptr<State> state;
    const void* handle = nullptr;
  };

  int most_running = 1;
  ThreadFunctions functions;
  bool own_functions = false;
  std::mutex mutex;
  std::condition_variable wake, ended;
  std::deque<Job> jobs;
  int process = process_number();
  int running = 0, idle = 0, threads = 0;
  bool closing = false;
  std::vector<const void*> finished;  // handles to join
  std::thread::id orphan;             // the thread in which the queue was destroyed: nobody is left to join it

  static thread_local State* here;  // whose thread this is

  void start_thread() {
    finished.reserve(finished.size() + static_cast<size_t>(threads) + 1);  // so that threads end without asking for memory
    auto thread = std::make_unique<Thread>();
    thread->state = shared_from_this();
    // The thread waits for the mutex, so it finds its handle set.
    thread->handle =
        functions.create([](void* parameter) { serve(std::unique_ptr<Thread>(static_cast<Thread*>(parameter))); }, thread.get());
    if (!thread->handle) fail(ErrorCode::fail, "no thread could be started for an asynchronous run");
    ++threads;
    (void)thread.release();
  }

  void start_thread_for_the_next_job() {
    if (jobs.empty() || running >= most_running) return;
    if (idle > 0) {
      wake.notify_one();
      return;
    }
    try {
      start_thread();
    } catch (const std::exception&) {  // a thread that comes back takes the job
    }
  }

  static void serve(std::unique_ptr<Thread> thread) {
    const std::shared_ptr<State> state = thread->state;
    here = state.get();
    std::unique_lock lock(state->mutex);
    while (state->take_one(lock)) {
    }
    if (state->orphan == std::this_thread::get_id()) {
      if (state->own_functions) state->functions.join(thread->handle);
    } else {
      state->finished.push_back(thread->handle);
    }
    --state->threads;
    state->ended.notify_all();
  }

  bool take_one(std::unique_lock<std::mutex>& lock) {
    const auto ready = [&] { return (!jobs.empty() && running < most_running) || (closing && jobs.empty()); };
    if (!ready()) {
      ++idle;
      const bool more = wake.wait_for(lock, kLinger, ready);
      --idle;
      if (!more && (jobs.empty() || running >= most_running)) return false;
    }
    if (jobs.empty()) return false;
    Job job = std::move(jobs.front());
    jobs.pop_front();
    ++running;
    start_thread_for_the_next_job();
    lock.unlock();
    job.work();
    job.work = nullptr;
    lock.lock();
    --running;
    start_thread_for_the_next_job();
    lock.unlock();
    job.done();
    job.done = nullptr;
    lock.lock();
    return true;
  }

  void join_finished(std::unique_lock<std::mutex>& lock) {
    std::vector<const void*> handles;
    handles.swap(finished);
    lock.unlock();
    for (const void* handle : handles) functions.join(handle);
    lock.lock();
  }
};

thread_local AsyncQueue::State* AsyncQueue::State::here = nullptr;

AsyncQueue::AsyncQueue(int most_running, const ThreadFunctions& functions) : state_(std::make_shared<State>()) {
  state_->most_running = std::max(1, most_running);
  state_->own_functions = !functions.create;
  state_->functions = functions.create ? functions : own_threads();
}

// The threads of the parent of a fork do not exist in the child. What they may hold locked, or wait for, is never touched again there.
std::shared_ptr<AsyncQueue::State> AsyncQueue::state_of_process() {
  const std::lock_guard lock(mutex_);
  if (state_->process == process_number()) return state_;
  auto own = std::make_shared<State>();
  own->most_running = state_->most_running;
  own->own_functions = state_->own_functions;
  own->functions = state_->functions;
  (void)new std::shared_ptr<State>(std::exchange(state_, std::move(own)));
  return state_;
}

AsyncQueue::~AsyncQueue() {
  const std::shared_ptr<State> state = state_of_process();
  std::unique_lock lock(state->mutex);
  state->closing = true;
  state->wake.notify_all();
  const int self = State::here == state.get() ? 1 : 0;
  if (self) state->orphan = std::this_thread::get_id();
  state->ended.wait(lock, [&] { return state->threads <= self; });
  state->join_finished(lock);
}

void AsyncQueue::add(std::function<void()> work, std::function<void()> done) {
  const std::shared_ptr<State> state = state_of_process();
  std::unique_lock lock(state->mutex);
  if (!state->finished.empty()) state->join_finished(lock);
  state->jobs.push_back({std::move(work), std::move(done)});
  if (state->idle > 0) {
    state->wake.notify_one();
  } else if (state->running < state->most_running) {
    try {
      state->start_thread();
    } catch (const std::exception&) {
      if (state->threads == 0) {
        state->jobs.pop_back();
        throw;
      }
    }
  }
}

}  // namespace rh
