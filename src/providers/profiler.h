#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace rh {

/// Something that took time, in a trace. Times are microseconds since profiling began.
struct TraceEvent {
  enum class Category : uint8_t { session, node, kernel, api };  ///< the numbers are those of OrtProfilingEventCategory
  Category category = Category::kernel;
  std::string name;
  int32_t process = 0, thread = 0;
  int64_t begin_us = 0, duration_us = 0;
  std::map<std::string, std::string> arguments;
};

/// What a provider measures itself while a trace is taken. begin_event and end_event come in pairs, nested on one thread.
class ProviderProfiler {
 public:
  virtual ~ProviderProfiler() = default;
  /// `offset_ns`: how long ago profiling began.
  virtual Status start(int64_t offset_ns) = 0;
  /// An event of ours begins, and ends. `id` is the same in both calls.
  virtual void begin_event(uint64_t id) = 0;
  virtual void end_event(uint64_t id, const TraceEvent& event) = 0;
  /// Profiling is over: what the provider measured goes to the end of `events`.
  virtual Status finish(std::vector<TraceEvent>& events) = 0;
};

}  // namespace rh
