#include "session/compile/plan_settings.h"

#include "base/error.h"
#include "session/compact_weights.h"
#include "session/warn.h"
#include "settings/keys.h"

namespace rh {

namespace {

Tuning tuning_of(const SessionOptions& options, int threads) {
  Tuning tuning;
  if (const std::string& path = options.settings.tuning_file; !path.empty()) {
    std::string ignored;
    try {
      tuning = read_tuning(path, threads, ignored);
    } catch (const Error& error) {
      fail(error.code(), "config entry '{}': {}", kKeyOf<&Settings::tuning_file>, error.message());
    }
    if (!ignored.empty()) warn(options.log.get(), ignored + ": the session does without it");
  }
  tuning.preferred = options.settings.variant;
  return tuning;
}

}  // namespace

PlanOptions plan_settings(const Graph& graph, const SessionOptions& options, MemoryAccount& account, int threads) {
  return {.plan_memory = options.memory_pattern,
          .reuse_memory = options.settings.reuse_memory,
          .parts_in_place = options.optimization_level != OptimizationLevel::none,
          .compile_units = !options.settings.disable_model_compile,
          .kernels = {.precision = precision_of(options),
                      .tuning = tuning_of(options, threads),
                      .lean_memory = options.settings.memory == MemoryPolicy::lean,
                      .compact_weights = wants_compact_weights(graph, options),
                      .random_kernels = std::make_shared<std::atomic<uint64_t>>(0)},
          .cancel = options.cancel_load.get(),
          .max_tensor_bytes = max_tensor_bytes(options),
          .account = &account};
}

}  // namespace rh
