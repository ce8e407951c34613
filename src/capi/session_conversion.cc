// Options of the C ABI as the session layer takes them.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "capi/guard.h"
#include "capi/plugins.h"
#include "capi/session.h"
#include "settings/keys.h"

namespace rh::capi {

namespace {

/// Passes messages on to the session's log function, or to the environment's logger.
class SessionLog final : public LogSink {
 public:
  explicit SessionLog(std::shared_ptr<const OrtLogger> logger) : logger_(std::move(logger)) {}

  bool enabled(LogSeverity severity) const override { return logger_->enabled(static_cast<OrtLoggingLevel>(severity)); }
  void log(LogSeverity severity, std::string_view category, std::string_view message) override {
    logger_->write(static_cast<OrtLoggingLevel>(severity), std::string(category).c_str(), "", std::string(message).c_str());
  }

 private:
  std::shared_ptr<const OrtLogger> logger_;
};

/// A number of threads: the one that is given, else that of the environment variable, else 0.
int threads_of(int given, const char* variable) {
  const char* text = given > 0 ? nullptr : std::getenv(variable);
  if (!text) return std::max(0, given);
  const std::string_view view(text);
  int threads = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), threads);
  return error == std::errc() && end == view.data() + view.size() ? std::max(0, threads) : 0;
}

/// Of a session or a run; -1: that of the environment, or of the session.
int checked_severity(int level, std::string_view whose) {
  if (level >= -1 && level <= ORT_LOGGING_LEVEL_FATAL) return level;
  fail(ErrorCode::fail, "the log severity level of the {} is {}, expected 0 (verbose) to 4 (fatal)", whose, level);
}

}  // namespace

std::shared_ptr<const OrtLogger> session_logger(const OrtEnv& env, const OrtSessionOptions* options) {
  auto logger = std::make_shared<OrtLogger>(env.logger);
  if (!options) return logger;
  // An entry counts before the field that it repeats; a wrong number is an error when the session is made.
  const Settings said = glance_at_settings(options->config.pairs());
  const std::string& id = said.log_id && !said.log_id->empty() ? *said.log_id : options->log_id;
  if (!id.empty()) logger->id = id;
  const bool is_level = said.log_severity >= ORT_LOGGING_LEVEL_VERBOSE && said.log_severity <= ORT_LOGGING_LEVEL_FATAL;
  const int severity = is_level ? *said.log_severity : options->log_severity;
  if (severity >= 0) logger->level = static_cast<OrtLoggingLevel>(severity);
  if (options->logging_function) {
    logger->function = options->logging_function;
    logger->parameter = options->logging_parameter;
  }
  return logger;
}

SessionOptions session_options(const OrtEnv& env, const OrtSessionOptions* given) {
  SessionOptions options;
  options.log = std::make_shared<SessionLog>(session_logger(env, given));
  if (!given) return options;
  options.intra_op_threads = threads_of(given->intra_op_threads, "ORT_INTRA_OP_NUM_THREADS");
  options.inter_op_threads = threads_of(given->inter_op_threads, "ORT_INTER_OP_NUM_THREADS");
  options.execution_mode = static_cast<ExecutionMode>(given->execution_mode);
  options.deterministic = given->deterministic;
  options.settings = glance_at_settings(given->config.pairs());
  if (!options.settings.own_threads.value_or(given->per_session_threads)) {
    options.shared_pool = env.shared_pool();
    if (!options.shared_pool) {
      fail(ErrorCode::fail,
           "session options: per-session threads are off, but the environment was made without global thread pools "
           "(CreateEnvWithGlobalThreadPools)");
    }
  }
  options.thread_functions = abi::thread_functions(given->thread_functions);
  options.optimization_level = static_cast<OptimizationLevel>(given->optimization_level);
  options.dims_by_name = given->dims_by_name;
  options.dims_by_denotation = given->dims_by_denotation;
  options.initializers = given->initializers;
  options.initializers.insert(given->external_initializers.begin(), given->external_initializers.end());
  for (const OrtSessionOptions::FileInMemory& file : given->external_files) {
    options.external_files.insert_or_assign(utf8(file.name), std::as_bytes(std::span(file.data, file.bytes)));
  }
  options.optimized_model_path = utf8(given->optimized_model_path);
  choose_plugins(env, *given, options);
  options.custom_operators = custom_operators(env, *given);
  options.memory_pattern = given->memory_pattern;
  options.cpu_arena = given->cpu_arena;
  if (options.settings.use_env_allocators) {
    options.host_memory = const_cast<OrtEnv&>(env).shared_memory(abi::host_memory_info(OrtArenaAllocator));
  }
  options.log_id = given->log_id;
  options.log_severity = checked_severity(given->log_severity, "session");
  options.log_verbosity = given->log_verbosity;
  options.profiling = given->profiling;
  options.profile_prefix = utf8(given->profile_prefix);
  options.config = given->config.pairs();
  const char* released = std::getenv("ALLOW_RELEASED_ONNX_OPSET_ONLY");
  if (released) options.config.try_emplace(kKeyOf<&Settings::released_opsets_only>, released);
  options.cancel_load = given->cancel_load;
  return options;
}

RunOptions run_options(const OrtRunOptions* given) {
  RunOptions options;
  if (!given) return options;
  options.tag = given->tag;
  options.log_severity = checked_severity(given->log_severity, "run");
  options.log_verbosity = given->log_verbosity;
  options.config = given->config.pairs();
  options.terminate = &given->terminate;
  options.handle = given;
  if (given->node_callback) options.observer = node_callback_observer(given->node_callback, given->node_callback_state);
  options.profiling = given->profiling;
  options.profile_prefix = utf8(given->profile_prefix);
  apply_config(options);
  options.synchronize = !options.settings.unsynchronized;
  return options;
}

}  // namespace rh::capi
