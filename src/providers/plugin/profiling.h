#pragma once

#include <map>
#include <string>
#include <vector>

#include "roundhouse/onnxruntime_ep_c_api.h"

/// Something that took time, as a provider reports it.
struct OrtProfilingEvent {
  OrtProfilingEventCategory category = OrtProfilingEventCategory_KERNEL;
  int32_t process = 0, thread = 0;
  std::string name;
  int64_t timestamp_us = 0, duration_us = 0;
  std::map<std::string, std::string> arguments;
};

/// What a provider reports when profiling ends.
struct OrtProfilingEventsContainer {
  std::vector<OrtProfilingEvent> events;
};
