#include "stands/cuda/driver/stream.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "stands/cuda/driver/device.h"

namespace rh::stand {
namespace {

std::atomic<unsigned> next_number{1};

struct HostClock {
  std::mutex mutex;
  WorkClock clock;
};
HostClock& host_clock() {
  static auto* host = new HostClock;
  return *host;
}

}  // namespace

void host_has_seen(const Moment& moment) {
  std::lock_guard lock(host_clock().mutex);
  host_clock().clock.join(moment.clock);
}

bool Moment::reached() const { return !queue || queue->done(ticket); }

void Moment::wait() const {
  if (queue) queue->wait(ticket);
}

StreamQueue::StreamQueue(Device& device, long delay_us) : device_(device), number_(next_number++), delay_us_(delay_us) {}

void StreamQueue::start() {
  std::thread([self = shared_from_this()] { self->work(); }).detach();
}

void StreamQueue::end() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

void StreamQueue::submit(std::vector<Moment> after, Task task) {
  {
    std::lock_guard lock(mutex_);
    Item item;
    item.task = std::move(task);
    if (device_.check()) {
      std::lock_guard host_lock(host_clock().mutex);
      clock_.join(host_clock().clock);
      for (const auto& moment : after) clock_.join(moment.clock);
    }
    item.place = {number_, ++submitted_, clock_};
    if (device_.check()) {
      item.place.before.set(number_, submitted_ - 1);
      clock_.set(number_, submitted_);
    }
    item.after = std::move(after);
    items_.push_back(std::move(item));
  }
  changed_.notify_all();
}

Moment StreamQueue::now() {
  std::lock_guard lock(mutex_);
  return {shared_from_this(), submitted_, clock_};
}

bool StreamQueue::done(uint32_t ticket) {
  std::lock_guard lock(mutex_);
  return done_ >= ticket;
}

void StreamQueue::wait(uint32_t ticket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= ticket; });
}

void StreamQueue::work() {
  prepare_device_thread();
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || !items_.empty(); });
    if (items_.empty()) return;
    Item item = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    for (const auto& moment : item.after) moment.wait();
    if (delay_us_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us_));
    {
      DeviceAccess access(device_.memory);
      item.task(item.place);
    }
    item.task = nullptr;  // what it held is free before anyone learns that it is done
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace rh::stand
