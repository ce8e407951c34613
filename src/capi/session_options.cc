#include <algorithm>
#include <cstring>
#include <filesystem>

#include "abi/options.h"
#include "abi/value.h"
#include "base/known_words.h"
#include "base/paths.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

constexpr size_t kMaxKey = 1024, kMaxValue = 8192;

template <typename F>
OrtStatus* change(OrtSessionOptions* options, F&& body) {
  return guard([&] { body(checked(options, "options")); });
}

}  // namespace

OrtStatus* ORT_API_CALL CreateSessionOptions(OrtSessionOptions** out) {
  return guard([&] {
    checked(out, "options");
    *out = new OrtSessionOptions;
  });
}

OrtStatus* ORT_API_CALL CloneSessionOptions(const OrtSessionOptions* options, OrtSessionOptions** out) {
  return guard([&] {
    checked(out, "out_options");
    auto copy = std::make_unique<OrtSessionOptions>(checked(options, "in_options"));
    copy->cancel_load = std::make_shared<std::atomic<bool>>(options->cancel_load->load());
    *out = copy.release();
  });
}

void ORT_API_CALL ReleaseSessionOptions(OrtSessionOptions* options) { delete options; }

OrtStatus* ORT_API_CALL SetOptimizedModelFilePath(OrtSessionOptions* options, const ORTCHAR_T* path) {
  return change(options, [&](OrtSessionOptions& o) { o.optimized_model_path = &checked(path, "optimized_model_filepath"); });
}

OrtStatus* ORT_API_CALL SetSessionExecutionMode(OrtSessionOptions* options, ::ExecutionMode mode) {
  return change(options, [&](OrtSessionOptions& o) {
    if (mode != ORT_SEQUENTIAL && mode != ORT_PARALLEL) {
      fail(ErrorCode::invalid_argument, "execution_mode {} is not valid; it is ORT_SEQUENTIAL (0) or ORT_PARALLEL (1)",
           static_cast<int>(mode));
    }
    o.execution_mode = mode;
  });
}

OrtStatus* ORT_API_CALL GetSessionExecutionMode(const OrtSessionOptions* options, ::ExecutionMode* out) {
  return guard([&] { checked(out, "out") = checked(options, "options").execution_mode; });
}

OrtStatus* ORT_API_CALL EnableProfiling(OrtSessionOptions* options, const ORTCHAR_T* prefix) {
  return change(options, [&](OrtSessionOptions& o) {
    o.profile_prefix = &checked(prefix, "profile_file_prefix");
    o.profiling = true;
  });
}

OrtStatus* ORT_API_CALL DisableProfiling(OrtSessionOptions* options) {
  return change(options, [](OrtSessionOptions& o) {
    o.profiling = false;
    o.profile_prefix.clear();
  });
}

OrtStatus* ORT_API_CALL EnableMemPattern(OrtSessionOptions* options) {
  return change(options, [](OrtSessionOptions& o) { o.memory_pattern = true; });
}

OrtStatus* ORT_API_CALL DisableMemPattern(OrtSessionOptions* options) {
  return change(options, [](OrtSessionOptions& o) { o.memory_pattern = false; });
}

OrtStatus* ORT_API_CALL GetMemPatternEnabled(const OrtSessionOptions* options, int* out) {
  return guard([&] { checked(out, "out") = checked(options, "options").memory_pattern ? 1 : 0; });
}

OrtStatus* ORT_API_CALL EnableCpuMemArena(OrtSessionOptions* options) {
  return change(options, [](OrtSessionOptions& o) { o.cpu_arena = true; });
}

OrtStatus* ORT_API_CALL DisableCpuMemArena(OrtSessionOptions* options) {
  return change(options, [](OrtSessionOptions& o) { o.cpu_arena = false; });
}

OrtStatus* ORT_API_CALL SetSessionLogId(OrtSessionOptions* options, const char* id) {
  return change(options, [&](OrtSessionOptions& o) { o.log_id = &checked(id, "logid"); });
}

OrtStatus* ORT_API_CALL SetSessionLogVerbosityLevel(OrtSessionOptions* options, int level) {
  return change(options, [&](OrtSessionOptions& o) { o.log_verbosity = level; });
}

OrtStatus* ORT_API_CALL SetSessionLogSeverityLevel(OrtSessionOptions* options, int level) {
  return change(options, [&](OrtSessionOptions& o) { o.log_severity = level; });
}

OrtStatus* ORT_API_CALL SetUserLoggingFunction(OrtSessionOptions* options, OrtLoggingFunction function, void* parameter) {
  return change(options, [&](OrtSessionOptions& o) {
    o.logging_function = function;
    o.logging_parameter = parameter;
  });
}

OrtStatus* ORT_API_CALL SetSessionGraphOptimizationLevel(OrtSessionOptions* options, GraphOptimizationLevel level) {
  return change(options, [&](OrtSessionOptions& o) {
    switch (level) {
      case ORT_DISABLE_ALL:
      case ORT_ENABLE_BASIC:
      case ORT_ENABLE_EXTENDED:
      case ORT_ENABLE_LAYOUT:
      case ORT_ENABLE_ALL: o.optimization_level = level; return;
    }
    fail(ErrorCode::invalid_argument, "graph_optimization_level {} is not valid; it is 0, 1, 2, 3 or 99", static_cast<int>(level));
  });
}

OrtStatus* ORT_API_CALL SetIntraOpNumThreads(OrtSessionOptions* options, int threads) {
  return change(options, [&](OrtSessionOptions& o) { o.intra_op_threads = threads; });
}

OrtStatus* ORT_API_CALL SetInterOpNumThreads(OrtSessionOptions* options, int threads) {
  return change(options, [&](OrtSessionOptions& o) { o.inter_op_threads = threads; });
}

OrtStatus* ORT_API_CALL DisablePerSessionThreads(OrtSessionOptions* options) {
  return change(options, [](OrtSessionOptions& o) { o.per_session_threads = false; });
}

OrtStatus* ORT_API_CALL SessionOptionsSetCustomCreateThreadFn(OrtSessionOptions* options, OrtCustomCreateThreadFn create) {
  return change(options, [&](OrtSessionOptions& o) { o.thread_functions.create = create; });
}

OrtStatus* ORT_API_CALL SessionOptionsSetCustomThreadCreationOptions(OrtSessionOptions* options, void* creation_options) {
  return change(options, [&](OrtSessionOptions& o) { o.thread_functions.creation_options = creation_options; });
}

OrtStatus* ORT_API_CALL SessionOptionsSetCustomJoinThreadFn(OrtSessionOptions* options, OrtCustomJoinThreadFn join) {
  return change(options, [&](OrtSessionOptions& o) { o.thread_functions.join = join; });
}

OrtStatus* ORT_API_CALL SetDeterministicCompute(OrtSessionOptions* options, bool value) {
  return change(options, [&](OrtSessionOptions& o) { o.deterministic = value; });
}

OrtStatus* ORT_API_CALL SessionOptionsSetLoadCancellationFlag(OrtSessionOptions* options, bool cancel) {
  return change(options, [&](OrtSessionOptions& o) { o.cancel_load->store(cancel); });
}

OrtStatus* ORT_API_CALL SessionOptionsSetEpContextDataReadFunc(OrtSessionOptions* options, OrtReadNamedBufferFunc function, void* state) {
  return change(options, [&](OrtSessionOptions& o) {
    o.read_ep_context = function;
    o.read_ep_context_state = function ? state : nullptr;
  });
}

// Configuration entries

OrtStatus* ORT_API_CALL AddSessionConfigEntry(OrtSessionOptions* options, const char* key, const char* value) {
  return change(options, [&](OrtSessionOptions& o) {
    const std::string_view name = &checked(key, "config_key"), text = &checked(value, "config_value");
    if (name.empty()) fail(ErrorCode::invalid_argument, "{}: a session config key has 1 to {} characters", words::kEmptyKey, kMaxKey);
    if (name.size() > kMaxKey) {
      fail(ErrorCode::invalid_argument, "session config key: {} characters; 1 to {} are allowed", name.size(), kMaxKey);
    }
    if (text.size() > kMaxValue) {
      fail(ErrorCode::invalid_argument, "session config entry '{}': {} characters; up to {} are allowed", name, text.size(), kMaxValue);
    }
    o.config.set(name, text);
  });
}

OrtStatus* ORT_API_CALL HasSessionConfigEntry(const OrtSessionOptions* options, const char* key, int* out) {
  return guard([&] { checked(out, "out") = checked(options, "options").config.find(&checked(key, "config_key")) ? 1 : 0; });
}

OrtStatus* ORT_API_CALL GetSessionConfigEntry(const OrtSessionOptions* options, const char* key, char* value, size_t* size) {
  return guard([&] {
    const char* found = checked(options, "options").config.find(&checked(key, "config_key"));
    if (!found) fail(ErrorCode::invalid_argument, "session config entry '{}' was not found", key);
    const size_t needed = std::strlen(found) + 1, given = checked(size, "size");
    *size = needed;
    if (!value) return;
    if (given < needed) fail(ErrorCode::invalid_argument, "session config entry '{}': {} bytes are needed, {} given", key, needed, given);
    std::memcpy(value, found, needed);
  });
}

OrtStatus* ORT_API_CALL GetSessionOptionsConfigEntries(const OrtSessionOptions* options, OrtKeyValuePairs** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtKeyValuePairs(checked(options, "options").config);
  });
}

// Dimensions and initializers

OrtStatus* ORT_API_CALL AddFreeDimensionOverride(OrtSessionOptions* options, const char* denotation, int64_t value) {
  return change(options, [&](OrtSessionOptions& o) { o.dims_by_denotation.emplace_back(&checked(denotation, "dim_denotation"), value); });
}

OrtStatus* ORT_API_CALL AddFreeDimensionOverrideByName(OrtSessionOptions* options, const char* name, int64_t value) {
  return change(options, [&](OrtSessionOptions& o) { o.dims_by_name.emplace_back(&checked(name, "dim_name"), value); });
}

OrtStatus* ORT_API_CALL AddInitializer(OrtSessionOptions* options, const char* name, const OrtValue* value) {
  return change(options, [&](OrtSessionOptions& o) {
    const rh::Value& content = checked(value, "val").value;
    if (!*&checked(name, "name")) fail(ErrorCode::invalid_argument, "initializer: the name is empty");
    if (!content.is_tensor()) fail(ErrorCode::invalid_argument, "initializer '{}': the value is not a tensor", name);
    if (!o.initializers.emplace(name, content).second) fail(ErrorCode::invalid_argument, "initializer '{}' was added before", name);
  });
}

OrtStatus* ORT_API_CALL AddExternalInitializers(OrtSessionOptions* options, const char* const* names, const OrtValue* const* values,
                                                size_t count) {
  return change(options, [&](OrtSessionOptions& o) {
    checked_array(names, count, "initializer_names");
    checked_array(values, count, "initializers");
    for (size_t i = 0; i < count; ++i) {
      const char* name = &checked(names[i], "initializer_names[i]");
      if (!o.external_initializers.emplace(name, checked(values[i], "initializers[i]").value).second) {
        fail(ErrorCode::invalid_argument, "external initializer '{}' was added before", name);
      }
    }
  });
}

OrtStatus* ORT_API_CALL AddExternalInitializersFromFilesInMemory(OrtSessionOptions* options, const ORTCHAR_T* const* names,
                                                                 char* const* buffers, const size_t* lengths, size_t count) {
  return change(options, [&](OrtSessionOptions& o) {
    checked_array(names, count, "external_initializer_file_names");
    checked_array(buffers, count, "external_initializer_file_buffer_array");
    checked_array(lengths, count, "external_initializer_file_lengths");
    for (size_t i = 0; i < count; ++i) {
      const ORTCHAR_T* name = &checked(names[i], "external_initializer_file_names[i]");
      if (!*name) fail(ErrorCode::invalid_argument, "external data file {}: the name is empty", i);
      if (std::ranges::any_of(o.external_files, [&](const auto& file) { return file.name == name; })) {
        fail(ErrorCode::invalid_argument, "external data file '{}' was added before", utf8(name));
      }
      o.external_files.push_back({name, checked_array(buffers[i], lengths[i], "external_initializer_file_buffer_array[i]"), lengths[i]});
    }
  });
}

}  // namespace rh::capi
