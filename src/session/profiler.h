#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "providers/profiler.h"
#include "tensor/value.h"

namespace rh {

/// Collects the times of loads, runs and nodes and writes them in Chrome's trace format, one event a line. Thread-safe.
class Profiler {
 public:
  using Clock = std::chrono::steady_clock;

  /// The file is "<prefix>_<date>_<time>_<milliseconds>.json". What is recorded here goes to `also` too; null: nowhere.
  explicit Profiler(const std::string& prefix, Profiler* also = nullptr);
  ~Profiler();

  uint64_t start_ns() const;  ///< of the system's clock, as logs of other programs have it
  /// Providers that are told of the events from here on, and whose own stand in the file as well.
  void attach(std::vector<std::unique_ptr<ProviderProfiler>> providers);
  /// The begin of an event.
  struct Mark {
    Clock::time_point time;
    uint64_t id;
  };
  Mark begin();
  /// Events that began at `begin` and end now.
  void record_node(const Node& node, std::string_view provider, const Mark& begin, const std::string& args);
  void record_session(std::string_view name, const Mark& begin);
  /// Writes the file, once; the events after that are not kept. Returns its path. Throws Error where it cannot be written.
  std::string finish();

 private:
  struct Event {
    std::string name;
    std::string args;  ///< members of a JSON object; empty: an event of the session
    Clock::time_point begin, end;
    uint64_t thread;
  };
  void add(const Event& event, uint64_t id, std::map<std::string, std::string> facts);
  void collect(std::string& text);  ///< with the mutex held: the events of providers, as JSON

  Clock::time_point start_ = Clock::now();
  std::chrono::system_clock::time_point system_start_ = std::chrono::system_clock::now();
  std::string path_;
  Profiler* also_;
  std::mutex mutex_;
  std::vector<Event> events_;
  std::vector<std::unique_ptr<ProviderProfiler>> providers_;
  std::atomic<bool> finished_{false};
};

/// Element types and shapes of values as a JSON array, [{"float":[2,3]}]; what is no tensor is left out.
std::string type_shapes(std::span<const Value* const> values);

}  // namespace rh
