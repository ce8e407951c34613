#include "abi/options.h"
#include "base/known_words.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

constexpr size_t kMaxKey = 1024, kMaxValue = 8192;

template <typename F>
OrtStatus* change(OrtRunOptions* options, F&& body) {
  return guard([&] { body(checked(options, "options")); });
}

}  // namespace

OrtStatus* ORT_API_CALL CreateRunOptions(OrtRunOptions** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtRunOptions;
  });
}

void ORT_API_CALL ReleaseRunOptions(OrtRunOptions* options) { delete options; }

OrtStatus* ORT_API_CALL RunOptionsSetRunLogVerbosityLevel(OrtRunOptions* options, int level) {
  return change(options, [&](OrtRunOptions& o) { o.log_verbosity = level; });
}

OrtStatus* ORT_API_CALL RunOptionsGetRunLogVerbosityLevel(const OrtRunOptions* options, int* out) {
  return guard([&] { checked(out, "log_verbosity_level") = checked(options, "options").log_verbosity; });
}

OrtStatus* ORT_API_CALL RunOptionsSetRunLogSeverityLevel(OrtRunOptions* options, int level) {
  return change(options, [&](OrtRunOptions& o) { o.log_severity = level; });
}

OrtStatus* ORT_API_CALL RunOptionsGetRunLogSeverityLevel(const OrtRunOptions* options, int* out) {
  return guard([&] { checked(out, "log_severity_level") = checked(options, "options").log_severity; });
}

OrtStatus* ORT_API_CALL RunOptionsSetRunTag(OrtRunOptions* options, const char* tag) {
  return change(options, [&](OrtRunOptions& o) { o.tag = tag ? tag : ""; });
}

OrtStatus* ORT_API_CALL RunOptionsGetRunTag(const OrtRunOptions* options, const char** out) {
  return guard([&] { checked(out, "run_tag") = checked(options, "options").tag.c_str(); });
}

OrtStatus* ORT_API_CALL RunOptionsSetTerminate(OrtRunOptions* options) {
  return change(options, [](OrtRunOptions& o) { o.terminate = true; });
}

OrtStatus* ORT_API_CALL RunOptionsUnsetTerminate(OrtRunOptions* options) {
  return change(options, [](OrtRunOptions& o) { o.terminate = false; });
}

OrtStatus* ORT_API_CALL AddRunConfigEntry(OrtRunOptions* options, const char* key, const char* value) {
  return change(options, [&](OrtRunOptions& o) {
    const std::string_view name = &checked(key, "config_key"), text = &checked(value, "config_value");
    if (name.empty()) fail(ErrorCode::invalid_argument, "{}: a run config key has 1 to {} characters", words::kEmptyKey, kMaxKey);
    if (name.size() > kMaxKey) {
      fail(ErrorCode::invalid_argument, "run config key: {} characters; 1 to {} are allowed", name.size(), kMaxKey);
    }
    if (text.size() > kMaxValue) {
      fail(ErrorCode::invalid_argument, "run config entry '{}': {} characters; up to {} are allowed", name, text.size(), kMaxValue);
    }
    o.config.set(name, text);
  });
}

const char* ORT_API_CALL GetRunConfigEntry(const OrtRunOptions* options, const char* key) {
  return options && key ? guard_or<const char*>(nullptr, [&] { return options->config.find(key); }) : nullptr;
}

OrtStatus* ORT_API_CALL RunOptionsEnableProfiling(OrtRunOptions* options, const ORTCHAR_T* prefix) {
  return change(options, [&](OrtRunOptions& o) {
    o.profile_prefix = &checked(prefix, "profile_file_prefix");
    o.profiling = true;
  });
}

OrtStatus* ORT_API_CALL RunOptionsDisableProfiling(OrtRunOptions* options) {
  return change(options, [](OrtRunOptions& o) {
    o.profiling = false;
    o.profile_prefix.clear();
  });
}

void ORT_API_CALL RunOptionsSetSyncStream(OrtRunOptions* options, OrtSyncStream* stream) {
  if (options) options->stream = stream;
}

}  // namespace rh::capi
