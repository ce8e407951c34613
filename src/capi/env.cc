#include "abi/env.h"

#include "abi/allocator.h"
#include "abi/arena_allocator.h"
#include "base/random_seed.h"
#include "capi/guard.h"
#include "capi/plugins.h"
#include "capi/table.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::capi {

namespace {

OrtStatus* create_env(OrtEnv** out, const abi::EnvSettings& settings) {
  return guard([&] {
    checked(out, "out");
    *out = abi::acquire_env(settings);
  });
}

const char* text(const char* string) { return string ? string : ""; }

void register_host_allocator(OrtEnv& env, const OrtMemoryInfo& info, const OrtArenaCfg* settings) {
  OrtAllocator* allocator = nullptr;
  if (info.allocator_type == OrtArenaAllocator) {
    auto host = std::shared_ptr<Allocator>(&host_allocator(), [](Allocator*) {});
    allocator = abi::new_arena_allocator(info, std::make_shared<Arena>(std::move(host), abi::arena_settings(settings)));
  } else {
    allocator = abi::new_host_allocator(info);
  }
  try {
    env.register_allocator(*allocator, true);
  } catch (...) {
    abi::release_allocator(allocator);
    throw;
  }
}

}  // namespace

OrtStatus* ORT_API_CALL CreateEnv(OrtLoggingLevel level, const char* logid, OrtEnv** out) {
  return guard([&] { return create_env(out, {.level = level, .id = text(logid)}); });
}

OrtStatus* ORT_API_CALL CreateEnvWithCustomLogger(OrtLoggingFunction function, void* parameter, OrtLoggingLevel level, const char* logid,
                                                  OrtEnv** out) {
  return guard([&] { return create_env(out, {.level = level, .id = text(logid), .function = function, .parameter = parameter}); });
}

OrtStatus* ORT_API_CALL CreateEnvWithGlobalThreadPools(OrtLoggingLevel level, const char* logid, const OrtThreadingOptions* threading,
                                                       OrtEnv** out) {
  return guard([&] { return create_env(out, {.level = level, .id = text(logid), .threading = &checked(threading, "tp_options")}); });
}

OrtStatus* ORT_API_CALL CreateEnvWithCustomLoggerAndGlobalThreadPools(OrtLoggingFunction function, void* parameter, OrtLoggingLevel level,
                                                                      const char* logid, const OrtThreadingOptions* threading,
                                                                      OrtEnv** out) {
  return guard([&] {
    return create_env(
        out,
        {.level = level, .id = text(logid), .function = function, .parameter = parameter, .threading = &checked(threading, "tp_options")});
  });
}

OrtStatus* ORT_API_CALL CreateEnvWithOptions(const OrtEnvCreationOptions* options, OrtEnv** out) {
  return guard([&] {
    const OrtEnvCreationOptions& given = checked(options, "options");
    if (given.version == 0) fail(ErrorCode::invalid_argument, "options: the version is 0; set it to ORT_API_VERSION");
    return create_env(out, {.level = static_cast<OrtLoggingLevel>(given.logging_severity_level),
                            .id = text(given.log_id),
                            .function = given.custom_logging_function,
                            .parameter = given.custom_logging_param,
                            .threading = given.threading_options,
                            .config = given.config_entries});
  });
}

void ORT_API_CALL ReleaseEnv(OrtEnv* env) { abi::release_env(env); }

OrtStatus* ORT_API_CALL EnableTelemetryEvents(const OrtEnv*) { return nullptr; }
OrtStatus* ORT_API_CALL DisableTelemetryEvents(const OrtEnv*) { return nullptr; }
OrtStatus* ORT_API_CALL SetLanguageProjection(const OrtEnv*, OrtLanguageProjection) { return nullptr; }

OrtStatus* ORT_API_CALL UpdateEnvWithCustomLogLevel(OrtEnv* env, OrtLoggingLevel level) {
  return guard([&] { checked(env, "ort_env").logger.level = level; });
}

// Threading options

OrtStatus* ORT_API_CALL CreateThreadingOptions(OrtThreadingOptions** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtThreadingOptions;
  });
}

void ORT_API_CALL ReleaseThreadingOptions(OrtThreadingOptions* options) { delete options; }

OrtStatus* ORT_API_CALL SetGlobalIntraOpNumThreads(OrtThreadingOptions* options, int threads) {
  return guard([&] { checked(options, "tp_options").intra_op_threads = threads; });
}

OrtStatus* ORT_API_CALL SetGlobalInterOpNumThreads(OrtThreadingOptions* options, int threads) {
  return guard([&] { checked(options, "tp_options").inter_op_threads = threads; });
}

OrtStatus* ORT_API_CALL SetGlobalSpinControl(OrtThreadingOptions* options, int allow_spinning) {
  return guard([&] {
    if (allow_spinning != 0 && allow_spinning != 1)
      fail(ErrorCode::invalid_argument, "allow_spinning is {}; it must be 0 or 1", allow_spinning);
    checked(options, "tp_options").allow_spinning = allow_spinning == 1;
  });
}

OrtStatus* ORT_API_CALL SetGlobalDenormalAsZero(OrtThreadingOptions* options) {
  return guard([&] { checked(options, "tp_options").flush_denormals = true; });
}

OrtStatus* ORT_API_CALL SetGlobalIntraOpThreadAffinity(OrtThreadingOptions* options, const char* affinity) {
  return guard([&] {
    constexpr size_t kMost = 4096;
    const std::string_view text = &checked(affinity, "affinity_string");
    if (text.empty() || text.size() > kMost) {
      fail(ErrorCode::invalid_argument, "Size of affinity string must be between 1 and {}, it is {}", kMost, text.size());
    }
    checked(options, "tp_options").intra_op_affinity = text;
  });
}

OrtStatus* ORT_API_CALL SetGlobalCustomCreateThreadFn(OrtThreadingOptions* options, OrtCustomCreateThreadFn create) {
  return guard([&] { checked(options, "tp_options").functions.create = create; });
}

OrtStatus* ORT_API_CALL SetGlobalCustomThreadCreationOptions(OrtThreadingOptions* options, void* creation_options) {
  return guard([&] { checked(options, "tp_options").functions.creation_options = creation_options; });
}

OrtStatus* ORT_API_CALL SetGlobalCustomJoinThreadFn(OrtThreadingOptions* options, OrtCustomJoinThreadFn join) {
  return guard([&] { checked(options, "tp_options").functions.join = join; });
}

// Allocators of the environment

OrtStatus* ORT_API_CALL RegisterAllocator(OrtEnv* env, OrtAllocator* allocator) {
  return guard([&] { checked(env, "env").register_allocator(checked(allocator, "allocator"), false); });
}

OrtStatus* ORT_API_CALL UnregisterAllocator(OrtEnv* env, const OrtMemoryInfo* info) {
  return guard([&] { checked(env, "env").unregister_allocator(checked(info, "mem_info")); });
}

OrtStatus* ORT_API_CALL CreateAndRegisterAllocator(OrtEnv* env, const OrtMemoryInfo* info, const OrtArenaCfg* settings) {
  return guard([&] {
    OrtEnv& target = checked(env, "env");
    if (!checked(info, "mem_info").is_host()) {
      fail(ErrorCode::invalid_argument,
           "memory '{}' is on a device; take CreateAndRegisterAllocatorV2 with the name of its provider, or CreateSharedAllocator",
           info->name);
    }
    register_host_allocator(target, *info, settings);
  });
}

OrtStatus* ORT_API_CALL CreateAndRegisterAllocatorV2(OrtEnv* env, const char* provider, const OrtMemoryInfo* info,
                                                     const OrtArenaCfg* settings, const char* const* keys, const char* const* values,
                                                     size_t count) {
  return guard([&] {
    OrtEnv& target = checked(env, "env");
    const std::string_view name = &checked(provider, "provider_type");
    checked_array(keys, count, "provider_options_keys");
    checked_array(values, count, "provider_options_values");
    if (name == "CPUExecutionProvider" && checked(info, "mem_info").is_host()) return register_host_allocator(target, *info, settings);
    for (const OrtEpDevice* device : libraries_of(target).devices_of(name)) {
      if (!device->device_memory || device->device_memory->device != checked(info, "mem_info").device) continue;
      OrtKeyValuePairs options;
      for (size_t i = 0; i < count; ++i) options.set(&checked(keys[i], "keys[i]"), &checked(values[i], "values[i]"));
      const plugin::ArenaChoice arena{info->allocator_type == OrtArenaAllocator || settings, abi::arena_settings(settings)};
      libraries_of(target).create_shared_allocator(*device, OrtDeviceMemoryType_DEFAULT, &options, arena);
      return;
    }
    fail(ErrorCode::invalid_argument, "no registered provider is called '{}' and has the memory '{}'", name,
         checked(info, "mem_info").name);
  });
}

OrtStatus* ORT_API_CALL GetSharedAllocator(OrtEnv* env, const OrtMemoryInfo* info, OrtAllocator** out) {
  return guard([&] {
    OrtAllocator* registered = checked(env, "env").find_allocator(checked(info, "mem_info"));
    if (!registered && info->device == abi::host_memory_info().device) registered = &abi::default_allocator();
    checked(out, "allocator") = registered ? registered : libraries_of(*env).shared_allocator(*info);
  });
}

}  // namespace rh::capi

OrtStatus* ORT_API_CALL RhEnvMakeGlobalThreadPools(OrtEnv* env, const OrtThreadingOptions* options) {
  using namespace rh::capi;
  return guard([&] { checked(env, "env").make_shared_pool(checked(options, "options")); });
}

OrtStatus* ORT_API_CALL RhSetRandomSeed(int64_t seed) {
  rh::set_random_seed(seed);
  return nullptr;
}
