// Streams: a thread each, which does one piece of work after the other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "stands/cuda/driver/launch_check.h"

namespace rh::stand {

struct Device;
class Capture;
using Clock = std::chrono::steady_clock;

class StreamQueue;

// A point in a stream: after its so-many-th piece of work.
struct Moment {
  std::shared_ptr<StreamQueue> queue;
  uint32_t ticket = 0;
  WorkClock clock;
  bool reached() const;
  void wait() const;
};

using Task = std::function<void(const WorkPlace& place)>;

class StreamQueue : public std::enable_shared_from_this<StreamQueue> {
 public:
  StreamQueue(Device& device, long delay_us);
  // Starts the thread; it ends after end(), when all is done.
  void start();
  void end();
  // Returns at once; the task runs when all before it in the stream, and the moments, are done.
  void submit(std::vector<Moment> after, Task task);
  Moment now();
  bool done(uint32_t ticket);
  void wait(uint32_t ticket);

 private:
  struct Item {
    std::vector<Moment> after;
    WorkPlace place;
    Task task;
  };
  void work();

  Device& device_;
  const unsigned number_;
  const long delay_us_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  uint32_t submitted_ = 0, done_ = 0;
  bool ended_ = false;
  WorkClock clock_;
};

// What host threads have waited for precedes all that they submit later.
void host_has_seen(const Moment& moment);

}  // namespace rh::stand

// The handle of the interface.
struct CUstream_st {
  rh::stand::Device* device = nullptr;
  unsigned flags = 0;
  int priority = 0;
  std::shared_ptr<rh::stand::StreamQueue> queue;
  rh::stand::Capture* capture = nullptr;
};

// When an event was reached: the time of the one piece of work that marks it.
struct EventMark {
  rh::stand::Moment moment;
  std::shared_ptr<rh::stand::Clock::time_point> time;
};
struct CUevent_st {
  rh::stand::Device* device = nullptr;
  unsigned flags = 0;
  std::shared_ptr<EventMark> mark;        // of the last record
  rh::stand::Capture* capture = nullptr;  // recorded while this captured
  std::vector<size_t> captured_after;     // the nodes that it stands for
};
