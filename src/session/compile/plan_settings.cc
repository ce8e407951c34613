#include "session/compile/plan_settings.h"

#include "session/compact_weights.h"

namespace rh {

namespace {

// "roundhouse.tuning" and "roundhouse.variant".
Tuning tuning_of(const SessionOptions& options, int threads) {
  Tuning tuning;
  if (const std::string path(options.config_entry("roundhouse.tuning")); !path.empty()) {
    std::string ignored;
    tuning = read_tuning(path, threads, ignored);
    if (!ignored.empty() && options.log) options.log->log(LogSeverity::warning, "session", ignored + ": the session does without it");
  }
  tuning.preferred = options.config_entry("roundhouse.variant");
  return tuning;
}

Precision precision_named(std::string_view text) {
  return text == "strict" ? Precision::strict : text == "fast" ? Precision::fast : text == "bf16" ? Precision::bf16 : Precision::fp32;
}

}  // namespace

PlanOptions plan_settings(const Graph& graph, const SessionOptions& options, MemoryAccount& account, int threads) {
  return {.plan_memory = options.memory_pattern,
          .reuse_memory = options.config_entry("roundhouse.memory.reuse") != "0",
          .parts_in_place = options.optimization_level != OptimizationLevel::none,
          .compile_units = options.config_entry("session.disable_model_compile") != "1",
          .kernels = {.precision = precision_named(precision_of(options)),
                      .tuning = tuning_of(options, threads),
                      .lean_memory = options.config_entry("roundhouse.memory") == "lean",
                      .compact_weights = wants_compact_weights(graph, options),
                      .random_kernels = std::make_shared<std::atomic<uint64_t>>(0)},
          .cancel = options.cancel_load.get(),
          .max_tensor_bytes = max_tensor_bytes(options),
          .account = &account};
}

}  // namespace rh
