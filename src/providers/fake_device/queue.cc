#include "providers/fake_device/queue.h"

#include <chrono>
#include <set>
#include <utility>

#include "base/start_thread.h"

namespace rh::fake_device {

namespace {

std::mutex g_mutex;
std::set<Queue*> g_queues;

}  // namespace

Queue::Queue(int64_t delay_us) : delay_us_(delay_us), thread_(start_thread([this] { work(); })) {
  const std::lock_guard lock(g_mutex);
  g_queues.insert(this);
}

Queue::~Queue() {
  {
    const std::lock_guard lock(g_mutex);
    g_queues.erase(this);
  }
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Queue::submit(std::function<void()> piece) {
  {
    const std::lock_guard lock(mutex_);
    pieces_.push_back(std::move(piece));
    ++submitted_;
  }
  changed_.notify_all();
}

int64_t Queue::submitted() const {
  const std::lock_guard lock(mutex_);
  return submitted_;
}

void Queue::wait(int64_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= count; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Queue::wait_quietly() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= submitted_; });
}

void Queue::drain_all() {
  const std::lock_guard lock(g_mutex);
  for (Queue* queue : g_queues) queue->wait_quietly();
}

void Queue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || !pieces_.empty(); });
    if (pieces_.empty()) return;
    const std::function<void()> piece = std::move(pieces_.front());
    pieces_.pop_front();
    lock.unlock();
    if (delay_us_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us_));
    std::exception_ptr error;
    try {
      piece();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !error_) error_ = error;
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace rh::fake_device
