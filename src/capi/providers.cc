// Providers by name and by option struct.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "abi/env.h"
#include "abi/options.h"
#include "capi/guard.h"
#include "capi/plugins.h"
#include "capi/table.h"
#include "providers/known_providers.h"
#include "roundhouse/coreml_provider_factory.h"
#include "session/compile/session_providers.h"

namespace rh::capi {

namespace {

[[noreturn]] void not_enabled(std::string_view provider) {
  fail(ErrorCode::fail, "{} execution provider is not enabled in this build.", provider);
}

OrtStatus* not_enabled_status(std::string_view provider) {
  return guard([&] { not_enabled(provider); });
}

/// Those of registered libraries, those that a program can name without registering anything, and those built in. A library whose vendor's
/// is missing, as far as files tell it, counts as none.
std::vector<std::string> available_names() {
  std::vector<std::string> names;
  if (const OrtEnv* env = abi::current_env()) {
    for (const std::string& plugin : libraries_of(*env).provider_names()) {
      const KnownProvider* known = find_known_provider(plugin);
      if (!known || vendor_state(*known).problem.empty()) names.push_back(plugin);
    }
  }
  for (const KnownProvider& known : known_providers()) {
    if (std::ranges::find(names, known.name) == names.end() && is_ready(known)) names.emplace_back(known.name);
  }
  const std::vector<std::string> built_in = provider_registry().available();
  names.insert(names.end(), built_in.begin(), built_in.end());
  return names;
}

/// The provider's name where a registered library, or one that is found by its file name and then registered, has it; empty where there is
/// none. What is wrong with a library that is there waits for the session where there is no environment yet, or where that only warns.
std::string plugin_name(const OrtSessionOptions& options, std::string_view name, bool vendor_is_named = false) {
  const bool only_warn = glance_at_settings(options.config.pairs()).fallback == Fallback::warn;
  const OrtEnv* env = abi::current_env();
  if (!env) {
    const KnownProvider* known = find_known_provider(name);
    if (known && !find_provider_library(*known).empty() && (vendor_is_named || vendor_state(*known).problem.empty())) {
      return std::string(known->name);
    }
    return only_warn ? std::string(name) : std::string();
  }
  try {
    const std::string found = find_plugin_provider(*env, name, vendor_is_named);
    return found.empty() && only_warn ? std::string(name) : found;
  } catch (const Error&) {
    if (!only_warn) throw;
    return std::string(name);
  }
}

void append(OrtSessionOptions& options, std::string_view name, const char* const* keys, const char* const* values, size_t count) {
  checked_array(keys, count, "provider_options_keys");
  checked_array(values, count, "provider_options_values");
  OrtSessionOptions::Provider provider{provider_registry().canonical_name(name), {}, {}};
  const bool vendor_is_named = std::any_of(keys, keys + count, [](const char* key) { return key && key == kVendorOption; });
  if (provider.name.empty()) provider.name = plugin_name(options, name, vendor_is_named);
  if (provider.name.empty()) fail(ErrorCode::invalid_argument, "{}", why_unavailable(name, available_names()));
  for (size_t i = 0; i < count; ++i) {
    const char* key = &checked(keys[i], "provider_options_keys[i]");
    if (!*key) fail(ErrorCode::invalid_argument, "{}: a provider option has an empty key", provider.name);
    provider.options[key] = &checked(values[i], "provider_options_values[i]");
    options.config.set(fmt::format("ep.{}.{}", lower(provider.name), key), provider.options[key]);
  }
  if (const auto arena = provider.options.find("use_arena"); provider.name == "CPUExecutionProvider" && arena != provider.options.end())
    options.cpu_arena = arena->second == "1" || lower(arena->second) == "true";
  options.providers.push_back(std::move(provider));
}

}  // namespace

void append_provider(OrtSessionOptions& options, std::string_view name, std::string_view short_name,
                     const std::map<std::string, std::string>& values) {
  if (plugin_name(options, name).empty()) not_enabled(short_name);
  std::vector<const char*> keys, texts;
  for (const auto& [key, value] : values) {
    keys.push_back(key.c_str());
    texts.push_back(value.c_str());
  }
  append(options, name, keys.data(), texts.data(), keys.size());
}

/// The options that are as flags in a number.
std::map<std::string, std::string> coreml_options(uint32_t flags) {
  if (flags > COREML_FLAG_LAST * 2 - 1)
    fail(ErrorCode::invalid_argument, "coreml_flags is {}, expected a sum of COREML_FLAG_* up to {}", flags, COREML_FLAG_LAST * 2 - 1);
  const auto has = [&](uint32_t flag) { return (flags & flag) != 0; };
  std::map<std::string, std::string> values;
  if (has(COREML_FLAG_USE_CPU_AND_GPU)) values["MLComputeUnits"] = "CPUAndGPU";
  if (has(COREML_FLAG_ONLY_ENABLE_DEVICE_WITH_ANE)) values["MLComputeUnits"] = "CPUAndNeuralEngine";
  if (has(COREML_FLAG_USE_CPU_ONLY)) values["MLComputeUnits"] = "CPUOnly";
  if (has(COREML_FLAG_ENABLE_ON_SUBGRAPH)) values["EnableOnSubgraphs"] = "1";
  if (has(COREML_FLAG_ONLY_ALLOW_STATIC_INPUT_SHAPES)) values["RequireStaticInputShapes"] = "1";
  if (has(COREML_FLAG_CREATE_MLPROGRAM)) values["ModelFormat"] = "MLProgram";
  return values;
}

void check_enabled(std::string_view name, std::string_view short_name) {
  if (plugin_name(OrtSessionOptions(), name).empty()) not_enabled(short_name);
}

OrtStatus* ORT_API_CALL GetAvailableProviders(char*** out, int* count) {
  return guard([&] {
    checked(out, "out_ptr") = nullptr;
    checked(count, "provider_length") = 0;
    const std::vector<std::string> available = available_names();
    std::vector<std::unique_ptr<char[]>> copies;
    for (const std::string& name : available) {
      copies.push_back(std::make_unique<char[]>(name.size() + 1));
      std::memcpy(copies.back().get(), name.c_str(), name.size() + 1);
    }
    auto names = std::make_unique<char*[]>(copies.size());
    for (size_t i = 0; i < copies.size(); ++i) names[i] = copies[i].release();
    *count = static_cast<int>(available.size());
    *out = names.release();
  });
}

OrtStatus* ORT_API_CALL ReleaseAvailableProviders(char** names, int count) {
  for (int i = 0; names && i < count; ++i) delete[] names[i];
  delete[] names;
  return nullptr;
}

OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider(OrtSessionOptions* options, const char* name, const char* const* keys,
                                                              const char* const* values, size_t count) {
  return guard([&] { append(checked(options, "options"), &checked(name, "provider_name"), keys, values, count); });
}

OrtStatus* ORT_API_CALL SetCurrentGpuDeviceId(int) { return not_enabled_status("CUDA"); }
OrtStatus* ORT_API_CALL GetCurrentGpuDeviceId(int*) { return not_enabled_status("CUDA"); }

OrtStatus* ORT_API_CALL EnableOrtCustomOps(OrtSessionOptions*) {
  return guard([] { fail(ErrorCode::fail, "the operators of onnxruntime-extensions are not built in; register their library"); });
}

OrtStatus* ORT_API_CALL GetExecutionProviderApi(const char* name, uint32_t, const void** out) {
  return guard([&] {
    checked(out, "provider_api") = nullptr;
    fail(ErrorCode::invalid_argument, "provider '{}' has no table of its own", &checked(name, "provider_name"));
  });
}

}  // namespace rh::capi

extern "C" {

ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_CPU(OrtSessionOptions* options, int use_arena) {
  return rh::capi::guard([&] {
    OrtSessionOptions& target = rh::capi::checked(options, "options");
    target.cpu_arena = use_arena != 0;
    rh::capi::append(target, "CPU", nullptr, nullptr, 0);
  });
}

ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_CUDA(OrtSessionOptions* options, int device) {
  return rh::capi::guard([&] {
    rh::capi::append_provider(rh::capi::checked(options, "options"), "CUDAExecutionProvider", "CUDA",
                              {{"device_id", std::to_string(device)}});
  });
}

ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_CoreML(OrtSessionOptions* options, uint32_t flags) {
  return rh::capi::guard([&] {
    rh::capi::append_provider(rh::capi::checked(options, "options"), "CoreMLExecutionProvider", "CoreML", rh::capi::coreml_options(flags));
  });
}

ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_MIGraphX(OrtSessionOptions* options, int device) {
  return rh::capi::guard([&] {
    rh::capi::append_provider(rh::capi::checked(options, "options"), "MIGraphXExecutionProvider", "MIGraphX",
                              {{"device_id", std::to_string(device)}});
  });
}

ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_ROCM(OrtSessionOptions* options, int device) {
  return rh::capi::guard([&] {
    rh::capi::append_provider(rh::capi::checked(options, "options"), "ROCMExecutionProvider", "ROCM",
                              {{"device_id", std::to_string(device)}});
  });
}

ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_Tensorrt(OrtSessionOptions* options, int device) {
  return rh::capi::guard([&] {
    rh::capi::append_provider(rh::capi::checked(options, "options"), "TensorrtExecutionProvider", "TensorRT",
                              {{"device_id", std::to_string(device)}});
  });
}
}
