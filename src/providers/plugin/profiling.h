#pragma once

#include <memory>
#include <vector>

#include "providers/plugin/plugin_kernel.h"
#include "providers/profiler.h"
#include "roundhouse/onnxruntime_ep_c_api.h"

/// Something that took time, as the ABI hands it around.
struct OrtProfilingEvent {
  rh::TraceEvent event;
};

/// What a provider reports when profiling ends.
struct OrtProfilingEventsContainer {
  std::vector<rh::TraceEvent> events;
};

namespace rh::plugin {

/// Null where the plugin measures nothing. Throws Error.
std::unique_ptr<ProviderProfiler> make_plugin_profiler(std::shared_ptr<Ep> ep);

}  // namespace rh::plugin
