#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/nearest.h"
#include "base/system_memory.h"
#include "session/options.h"

namespace rh {

namespace {

/// A key of ours and the values that it takes; none listed: any.
struct OwnKey {
  std::string_view key;
  std::initializer_list<std::string_view> values;
};

const OwnKey kOwnKeys[] = {
    {"roundhouse.precision", {"strict", "fp32", "fast", "bf16"}},
    {"roundhouse.fallback", {"error", "warn"}},
    {"roundhouse.memory", {"fast", "lean"}},
    {"roundhouse.memory.budget_bytes", {}},
    {"roundhouse.memory.reuse", {"0", "1"}},
    {"roundhouse.weights", {"auto", "plain", "compact"}},
    {"roundhouse.max_rewrites", {}},
    {"roundhouse.config_from_model", {"0", "1"}},
    {"roundhouse.plugin.timeout_ms", {}},
    {"roundhouse.dump_graphs", {}},
    {"roundhouse.tuning", {}},
    {"roundhouse.variant", {}},
    {kMaxTensorBytesKey, {}},
};

const OwnKey kOwnRunKeys[] = {
    {"roundhouse.run.timeout_ms", {}},
    {"roundhouse.only_execute_path_to_fetches", {"0", "1"}},
};

std::string with_nearest(std::string_view text, std::span<const std::string_view> candidates) {
  const std::string_view best = nearest(text, candidates);
  return best.empty() ? fmt::format("expected one of: {}", fmt::join(candidates, ", "))
                      : fmt::format("expected one of: {}; the nearest is '{}'", fmt::join(candidates, ", "), best);
}

void check_own_key(std::span<const OwnKey> known, const std::string& key, const std::string& value) {
  std::vector<std::string_view> keys;
  for (const OwnKey& own : known) {
    keys.push_back(own.key);
    if (own.key != key) continue;
    if (own.values.size() == 0 || std::find(own.values.begin(), own.values.end(), value) != own.values.end()) return;
    const std::vector<std::string_view> values(own.values);
    fail(ErrorCode::invalid_argument, "config entry '{}' is '{}', {}", key, value, with_nearest(value, values));
  }
  fail(ErrorCode::invalid_argument, "there is no config entry '{}', {}", key, with_nearest(key, keys));
}

/// Config entries that repeat fields of the options.
class ConfigReader {
 public:
  explicit ConfigReader(const std::map<std::string, std::string>& config) : config_(config) {}

  const std::string* find(const std::string& key) const {
    const auto at = config_.find(key);
    return at == config_.end() ? nullptr : &at->second;
  }
  template <typename T>
  void number(const std::string& key, T& to) const {
    const std::string* text = find(key);
    if (!text) return;
    T value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc() || end != text->data() + text->size()) {
      fail(ErrorCode::invalid_argument, "config entry '{}' is '{}', expected {}", key, *text,
           std::is_signed_v<T> ? "an integer" : "a number of 0 or more");
    }
    to = value;
  }
  std::optional<bool> flag(const std::string& key) const {
    const std::string* text = find(key);
    if (!text) return std::nullopt;
    if (*text != "0" && *text != "1") fail(ErrorCode::invalid_argument, "config entry '{}' is '{}', expected 0 or 1", key, *text);
    return *text == "1";
  }
  void text(const std::string& key, std::string& to) const {
    if (const std::string* value = find(key)) to = *value;
  }
  template <typename T>
  void choice(const std::string& key, std::initializer_list<std::pair<std::string_view, T>> choices, T& to) const {
    const std::string* text = find(key);
    if (!text) return;
    std::string names;
    for (const auto& [name, value] : choices) {
      if (name == *text) {
        to = value;
        return;
      }
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    fail(ErrorCode::invalid_argument, "config entry '{}' is '{}', expected one of: {}", key, *text, names);
  }

 private:
  const std::map<std::string, std::string>& config_;
};

}  // namespace

size_t max_tensor_bytes(const SessionOptions& options) {
  const auto at = options.config.find(kMaxTensorBytesKey);
  if (at == options.config.end()) return system_memory_bytes();
  const std::string& text = at->second;
  size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size() || bytes == 0) {
    fail(ErrorCode::invalid_argument, "config entry '{}' is '{}', expected a number of bytes, at least 1", at->first, text);
  }
  return bytes;
}

std::string_view precision_of(const SessionOptions& options) {
  const std::string_view asked = options.config_entry("roundhouse.precision");
  return !asked.empty() ? asked : options.deterministic ? "strict" : "fp32";
}

void apply_config(SessionOptions& options) {
  for (const auto& [key, value] : options.config) {
    if (key.starts_with("roundhouse.")) check_own_key(kOwnKeys, key, value);
  }
  const ConfigReader config(options.config);
  if (config.flag("session.disable_prepacking") == true) options.config.try_emplace("roundhouse.memory", "lean");
  config.number("session.intra_op_num_threads", options.intra_op_threads);
  config.number("session.inter_op_num_threads", options.inter_op_threads);
  config.number("session.log_severity_level", options.log_severity);
  config.number("session.log_verbosity_level", options.log_verbosity);
  config.number("roundhouse.memory.budget_bytes", options.memory_budget);
  config.text("session.log_id", options.log_id);
  config.text("session.optimized_model_filepath", options.optimized_model_path);
  config.text("session.model_external_initializers_file_folder_path", options.external_data_folder);
  if (const auto on = config.flag("session.enable_cpu_mem_arena")) options.cpu_arena = *on;
  if (const auto on = config.flag("session.enable_mem_pattern")) options.memory_pattern = *on;
  if (const auto on = config.flag("session.use_deterministic_compute")) options.deterministic = *on;
  if (const std::string* prefix = config.find("session.enable_profiling")) {
    options.profiling = !prefix->empty();
    options.profile_prefix = *prefix;
  }
  using L = OptimizationLevel;
  config.choice<L>("session.graph_optimization_level",
                   {{"disable_all", L::none},
                    {"enable_basic", L::basic},
                    {"enable_extended", L::extended},
                    {"enable_layout", L::layout},
                    {"enable_all", L::all}},
                   options.optimization_level);
  using M = ExecutionMode;
  config.choice<M>(
      "session.execution_mode",
      {{"sequential", M::sequential}, {"ort_sequential", M::sequential}, {"parallel", M::parallel}, {"ort_parallel", M::parallel}},
      options.execution_mode);
  if (options.intra_op_threads < 0) {
    fail(ErrorCode::invalid_argument, "the number of threads within an operator is {}, expected 0 (all) or more", options.intra_op_threads);
  }
}

void apply_config(RunOptions& options) {
  for (const auto& [key, value] : options.config) {
    if (key.starts_with("roundhouse.")) check_own_key(kOwnRunKeys, key, value);
  }
  const ConfigReader config(options.config);
  if (config.find("roundhouse.run.timeout_ms")) {
    int milliseconds = 0;
    config.number("roundhouse.run.timeout_ms", milliseconds);
    if (milliseconds < 0) {
      fail(ErrorCode::invalid_argument, "config entry 'roundhouse.run.timeout_ms' is '{}', expected 0 (no limit) or more", milliseconds);
    }
    options.time_limit = milliseconds == 0 ? std::nullopt : std::optional(std::chrono::milliseconds(milliseconds));
  }
  if (const auto only = config.flag("roundhouse.only_execute_path_to_fetches")) options.only_execute_path_to_fetches = *only;
}

}  // namespace rh
