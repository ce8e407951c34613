#include "base/system_memory.h"
#include "session/options.h"

namespace rh {

namespace {

template <typename T>
void override_with(const std::optional<T>& setting, T& field) {
  if (setting) field = *setting;
}

}  // namespace

void apply_config(SessionOptions& options) {
  options.settings = read_settings(options.config);
  const Settings& said = options.settings;
  override_with(said.intra_op_threads, options.intra_op_threads);
  override_with(said.inter_op_threads, options.inter_op_threads);
  override_with(said.execution_mode, options.execution_mode);
  override_with(said.deterministic, options.deterministic);
  override_with(said.optimization_level, options.optimization_level);
  override_with(said.optimized_model_path, options.optimized_model_path);
  override_with(said.external_data_folder, options.external_data_folder);
  override_with(said.cpu_arena, options.cpu_arena);
  override_with(said.memory_pattern, options.memory_pattern);
  override_with(said.memory_budget_bytes, options.memory_budget);
  override_with(said.log_severity, options.log_severity);
  override_with(said.log_verbosity, options.log_verbosity);
  override_with(said.log_id, options.log_id);
  override_with(said.profile_prefix, options.profile_prefix);
  if (said.profile_prefix) options.profiling = !said.profile_prefix->empty();
  if (options.intra_op_threads < 0) {
    fail(ErrorCode::invalid_argument, "the number of threads within an operator is {}, expected 0 (all) or more", options.intra_op_threads);
  }
}

void apply_config(RunOptions& options) {
  options.settings = read_run_settings(options.config);
  override_with(options.settings.only_execute_path_to_fetches, options.only_execute_path_to_fetches);
  if (const std::optional<int> limit = options.settings.timeout_ms) {
    options.time_limit = *limit == 0 ? std::nullopt : std::optional(std::chrono::milliseconds(*limit));
  }
}

size_t max_tensor_bytes(const SessionOptions& options) {
  return options.settings.max_tensor_bytes ? *options.settings.max_tensor_bytes : system_memory_bytes();
}

Precision precision_of(const SessionOptions& options) {
  return options.settings.precision.value_or(options.deterministic ? Precision::strict : Precision::fp32);
}

std::string_view precision_name(Precision precision) { return setting::kPrecisions.name_of(precision); }

}  // namespace rh
