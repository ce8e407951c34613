// Plugin libraries, their devices, and what the environment shares of them.
#include <fmt/format.h>

#include <charconv>

#include "abi/allocator.h"
#include "abi/arena_allocator.h"
#include "capi/guard.h"
#include "capi/plugins.h"
#include "capi/session.h"
#include "capi/table.h"
#include "providers/plugin/call.h"

namespace rh::capi {

namespace {

const OrtEpDevice& device_of(const OrtEpDevice* device) { return checked(device, "ep_device"); }

/// Bounds as options of a shared allocator name them: "arena.max_mem", "arena.extend_strategy", ...
plugin::ArenaChoice arena_choice(OrtAllocatorType type, const OrtKeyValuePairs* options) {
  OrtArenaCfg settings;
  constexpr std::string_view prefix = "arena.";
  const OrtKeyValuePairs given = options ? *options : OrtKeyValuePairs();
  for (const auto& [key, value] : given.pairs()) {
    if (!key.starts_with(prefix)) continue;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) {
      fail(ErrorCode::invalid_argument, "allocator option '{}' is '{}', expected a number", key, value);
    }
    const std::string name = key.substr(prefix.size());
    settings.values[name == "extend_strategy" ? "arena_extend_strategy" : name] = number;
  }
  return {type == OrtArenaAllocator, abi::arena_settings(&settings)};
}

OrtEpFactory& factory_of(const OrtEpDevice& device) {
  if (!device.factory) fail(ErrorCode::invalid_argument, "device of '{}': the CPU provider has no plugin library", device.ep_name);
  return *device.factory;
}

/// While it lives, plugins read in the environment's configuration that they may offer devices without hardware, for sessions that only
/// compile: what a registration name that ends in ".virtual" asks for.
class VirtualDevices {
 public:
  VirtualDevices(OrtKeyValuePairs& config, std::string_view registration) : config_(config) {
    if (!registration.ends_with(".virtual") || config.find(kKey)) return;
    config.set(kKey, "1");
    added_ = true;
  }
  ~VirtualDevices() {
    if (added_) config_.remove(kKey);
  }
  VirtualDevices(const VirtualDevices&) = delete;
  VirtualDevices& operator=(const VirtualDevices&) = delete;

 private:
  static constexpr const char* kKey = "allow_virtual_devices";
  OrtKeyValuePairs& config_;
  bool added_ = false;
};

}  // namespace

OrtStatus* ORT_API_CALL RegisterExecutionProviderLibrary(OrtEnv* env, const char* name, const ORTCHAR_T* path) {
  return guard([&] {
    OrtEnv& target = checked(env, "env");
    const VirtualDevices devices(target.config, &checked(name, "registration_name"));
    libraries_of(target).add(&checked(name, "registration_name"), &checked(path, "path"), *OrtGetApiBase(), target.logger);
  });
}

OrtStatus* ORT_API_CALL UnregisterExecutionProviderLibrary(OrtEnv* env, const char* name) {
  return guard([&] { libraries_of(checked(env, "env")).remove(&checked(name, "registration_name")); });
}

OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_V2(OrtSessionOptions* options, OrtEnv* env, const OrtEpDevice* const* devices,
                                                                 size_t device_count, const char* const* keys, const char* const* values,
                                                                 size_t option_count) {
  return guard([&] {
    OrtSessionOptions& target = checked(options, "session_options");
    checked(env, "env");
    checked_array(devices, device_count, "ep_devices");
    checked_array(keys, option_count, "ep_option_keys");
    checked_array(values, option_count, "ep_option_vals");
    if (device_count == 0) fail(ErrorCode::invalid_argument, "no devices were given, expected at least one");
    OrtSessionOptions::Provider provider{device_of(devices[0]).ep_name, {}, {}};
    for (size_t i = 0; i < device_count; ++i) {
      const OrtEpDevice& device = device_of(devices[i]);
      if (device.ep_name != provider.name) {
        fail(ErrorCode::invalid_argument, "the devices are of '{}' and '{}', expected those of one provider", provider.name,
             device.ep_name);
      }
      if (device.factory) provider.devices.push_back(&device);
      for (const auto& [key, value] : device.options.pairs()) provider.options.emplace(key, value);
    }
    for (size_t i = 0; i < option_count; ++i) {
      const std::string_view key = &checked(keys[i], "ep_option_keys[i]");
      if (key.empty()) fail(ErrorCode::invalid_argument, "{}: a provider option has an empty key", provider.name);
      provider.options[std::string(key)] = &checked(values[i], "ep_option_vals[i]");
    }
    for (const auto& [key, value] : provider.options) target.config.set(fmt::format("ep.{}.{}", lower(provider.name), key), value);
    target.providers.push_back(std::move(provider));
  });
}

OrtStatus* ORT_API_CALL SessionOptionsSetEpSelectionPolicy(OrtSessionOptions* options, OrtExecutionProviderDevicePolicy policy) {
  return guard([&] {
    if (policy < OrtExecutionProviderDevicePolicy_DEFAULT || policy > OrtExecutionProviderDevicePolicy_MIN_OVERALL_POWER) {
      fail(ErrorCode::invalid_argument, "selection policy {} is not valid; it is 0 to {}", static_cast<int>(policy),
           static_cast<int>(OrtExecutionProviderDevicePolicy_MIN_OVERALL_POWER));
    }
    OrtSessionOptions& target = checked(options, "session_options");
    target.selection_policy = policy;
    target.selection_delegate = nullptr;
    target.selection_state = nullptr;
  });
}

OrtStatus* ORT_API_CALL SessionOptionsSetEpSelectionPolicyDelegate(OrtSessionOptions* options, EpSelectionDelegate delegate, void* state) {
  return guard([&] {
    OrtSessionOptions& target = checked(options, "session_options");
    target.selection_policy.reset();
    target.selection_delegate = delegate;
    target.selection_state = state;
  });
}

OrtStatus* ORT_API_CALL SetEpDynamicOptions(OrtSession* session, const char* const* keys, const char* const* values, size_t count) {
  return guard([&] {
    Session& target = *checked(session, "sess").session;
    checked_array(keys, count, "keys");
    checked_array(values, count, "values");
    if (count == 0) fail(ErrorCode::invalid_argument, "no dynamic options were given");
    std::map<std::string, std::string> options;
    for (size_t i = 0; i < count; ++i) options[&checked(keys[i], "keys[i]")] = &checked(values[i], "values[i]");
    target.set_provider_options(options);
  });
}

// Allocators and streams of devices, for callers

OrtStatus* ORT_API_CALL CreateSharedAllocator(OrtEnv* env, const OrtEpDevice* device, OrtDeviceMemoryType type,
                                              OrtAllocatorType allocator_type, const OrtKeyValuePairs* options, OrtAllocator** out) {
  return guard([&] {
    const OrtEpDevice& source = device_of(device);
    OrtAllocator* allocator =
        libraries_of(checked(env, "env")).create_shared_allocator(source, type, options, arena_choice(allocator_type, options));
    if (out) *out = allocator;
  });
}

OrtStatus* ORT_API_CALL ReleaseSharedAllocator(OrtEnv* env, const OrtEpDevice* device, OrtDeviceMemoryType type) {
  return guard([&] { libraries_of(checked(env, "env")).release_shared_allocator(device_of(device), type); });
}

OrtStatus* ORT_API_CALL CreateSyncStreamForEpDevice(const OrtEpDevice* device, const OrtKeyValuePairs* options, OrtSyncStream** out) {
  return guard([&] {
    checked(out, "stream") = nullptr;
    const OrtEpDevice& source = device_of(device);
    OrtEpFactory& factory = factory_of(source);
    const bool aware = RH_HAS(factory, 23, IsStreamAware) && plugin::ask(false, [&] { return factory.IsStreamAware(&factory); });
    if (!aware || !RH_HAS(factory, 23, CreateSyncStreamForDevice) || !source.device_memory) {
      fail(ErrorCode::not_implemented, "provider '{}' has no streams", source.ep_name);
    }
    OrtSyncStreamImpl* impl = nullptr;
    plugin::call(source.ep_name, "OrtEpFactory::CreateSyncStreamForDevice",
                 [&] { return factory.CreateSyncStreamForDevice(&factory, &source.device_memory->device, options, &impl); });
    if (!impl) fail(ErrorCode::ep_fail, "provider '{}' gave no stream", source.ep_name);
    *out = new OrtSyncStream(source.ep_name, *impl, source.device_memory->device, abi::device_of(*source.device_memory));
  });
}

void* ORT_API_CALL SyncStream_GetHandle(OrtSyncStream* stream) { return stream ? stream->handle() : nullptr; }
void ORT_API_CALL ReleaseSyncStream(OrtSyncStream* stream) { delete stream; }

}  // namespace rh::capi
