#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace rh {

/// Collects the times of loads, runs and nodes and writes them in Chrome's trace format, one event a line. Thread-safe.
class Profiler {
 public:
  /// The file is "<prefix>_<date>_<time>.json".
  explicit Profiler(const std::string& prefix);
  ~Profiler();

  uint64_t now_us() const;
  uint64_t start_ns() const;  ///< of the steady clock
  /// An event that began at `begin_us` and ends now.
  void record_node(const Node& node, std::string_view provider, uint64_t begin_us);
  void record_session(std::string_view name, uint64_t begin_us);
  /// Writes the file, once; the events after that are not kept. Returns its path. Throws Error where it cannot be written.
  std::string finish();

 private:
  struct Event {
    std::string name;
    std::string op;  ///< empty: an event of the session
    std::string_view provider;
    uint64_t begin_us, duration_us, thread;
  };
  void add(Event event);

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string path_;
  std::mutex mutex_;
  std::vector<Event> events_;
  bool finished_ = false;
};

}  // namespace rh
