#include "capi/plugins.h"

#include <algorithm>

#include "abi/status.h"
#include "capi/session.h"
#include "graph/graph.h"
#include "providers/known_providers.h"
#include "providers/plugin/call.h"
#include "providers/plugin/plugin_provider.h"
#include "session/compile/session_providers.h"

#include <cctype>

namespace rh::capi {

namespace {

constinit ForkMutex g_libraries_mutex;

constexpr size_t kMaxSelected = 8;

using Devices = std::vector<const OrtEpDevice*>;

/// Everything that a plugin's provider may read of its session lives as long as that.
ProviderChoice plugin_choice(const OrtEnv& env, std::shared_ptr<const OrtSessionOptions> options, Devices devices) {
  auto logger = session_logger(env, options.get());
  plugin::PluginSetup setup{libraries_of(env).library_of(*devices.at(0)), std::move(devices), std::move(options), std::move(logger),
                            nullptr};
  setup.settings = glance_at_settings(setup.options->config.pairs());
  return {setup.devices[0]->ep_name, {}, [setup](std::shared_ptr<const ModelInfo> model) {
            plugin::PluginSetup complete = setup;
            complete.model = std::move(model);
            return plugin::make_plugin_provider(std::move(complete));
          }};
}

OrtHardwareDeviceType preferred_type(OrtExecutionProviderDevicePolicy policy) {
  switch (policy) {
    case OrtExecutionProviderDevicePolicy_PREFER_NPU:
    case OrtExecutionProviderDevicePolicy_MAX_EFFICIENCY:
    case OrtExecutionProviderDevicePolicy_MIN_OVERALL_POWER: return OrtHardwareDeviceType_NPU;
    case OrtExecutionProviderDevicePolicy_PREFER_GPU:
    case OrtExecutionProviderDevicePolicy_MAX_PERFORMANCE: return OrtHardwareDeviceType_GPU;
    default: return OrtHardwareDeviceType_CPU;
  }
}

/// The devices of the first provider that has the preferred kind; those of the provider whose vendor made the hardware come first.
Devices select_by_policy(OrtExecutionProviderDevicePolicy policy, std::span<const OrtEpDevice* const> all) {
  const OrtHardwareDeviceType type = preferred_type(policy);
  if (type == OrtHardwareDeviceType_CPU) return {};
  Devices fitting;
  std::ranges::copy_if(all, std::back_inserter(fitting),
                       [&](const OrtEpDevice* d) { return d->factory && d->device && d->device->type == type; });
  std::ranges::stable_sort(fitting, std::ranges::greater{}, [](const OrtEpDevice* d) { return d->ep_vendor == d->device->vendor; });
  if (fitting.empty()) return {};
  const OrtEpDevice* first = fitting[0];
  std::erase_if(fitting, [&](const OrtEpDevice* d) { return d->factory != first->factory || d->ep_name != first->ep_name; });
  return fitting;
}

Devices select_by_delegate(const OrtSessionOptions& options, std::span<const OrtEpDevice* const> all, const ModelInfo& model) {
  Devices offered(all.begin(), all.end());
  std::map<std::string, std::string> facts(model.metadata.begin(), model.metadata.end());
  facts["producer_name"] = model.producer_name;
  facts["producer_version"] = model.producer_version;
  facts["domain"] = model.domain;
  facts["description"] = model.description;
  facts["graph_description"] = model.graph_description;
  facts["model_version"] = std::to_string(model.model_version);
  const OrtKeyValuePairs metadata(std::move(facts)), runtime;
  const OrtEpDevice* selected[kMaxSelected] = {};
  size_t count = 0;
  plugin::call("session options", "the selection delegate", [&] {
    return options.selection_delegate(offered.data(), offered.size(), &metadata, &runtime, selected, kMaxSelected, &count,
                                      options.selection_state);
  });
  if (count > kMaxSelected) fail(ErrorCode::fail, "the selection delegate chose {} devices, expected at most {}", count, kMaxSelected);
  for (size_t i = 0; i < count; ++i) {
    if (std::ranges::find(offered, selected[i]) == offered.end())
      fail(ErrorCode::fail, "the selection delegate chose a device that it was not offered");
  }
  return Devices(selected, selected + count);
}

/// Devices of one provider that follow each other become one choice.
std::vector<ProviderChoice> choices_of(const OrtEnv& env, const std::shared_ptr<const OrtSessionOptions>& options, const Devices& devices) {
  std::vector<ProviderChoice> choices;
  for (size_t i = 0; i < devices.size();) {
    size_t end = i + 1;
    while (end < devices.size() && devices[end]->factory == devices[i]->factory && devices[end]->ep_name == devices[i]->ep_name) ++end;
    if (devices[i]->factory) {
      choices.push_back(
          plugin_choice(env, options, {devices.begin() + static_cast<ptrdiff_t>(i), devices.begin() + static_cast<ptrdiff_t>(end)}));
    } else {
      choices.push_back({devices[i]->ep_name, {}, nullptr});
    }
    i = end;
  }
  return choices;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

plugin::Libraries& libraries_of(const OrtEnv& env) {
  const std::lock_guard lock(g_libraries_mutex);
  if (!env.libraries) env.libraries = std::make_shared<plugin::Libraries>(const_cast<OrtEnv&>(env));
  return *env.libraries;
}

std::string find_plugin_provider(const OrtEnv& env, std::string_view name) {
  plugin::Libraries& libraries = libraries_of(env);
  const auto without_devices = [](std::string_view provider, const std::string& file) {
    fail(ErrorCode::ep_fail,
         "{}: its library '{}' finds no device that it can use on this machine: leave it out, or see that its driver works", provider,
         file);
  };
  if (!libraries.devices_of(name).empty()) return std::string(name);
  if (const std::string file = libraries.library_without_devices(name); !file.empty()) without_devices(name, file);
  const KnownProvider* known = find_known_provider(name);
  if (!known) return {};
  if (!libraries.devices_of(known->name).empty()) return std::string(known->name);
  const std::filesystem::path file = find_provider_library(*known);
  if (file.empty()) return {};
  if (!libraries.has(known->name)) libraries.add(known->name, file.c_str(), *OrtGetApiBase(), env.logger);
  if (libraries.devices_of(known->name).empty()) without_devices(known->name, file.string());
  return std::string(known->name);
}

const OrtEpDevice* ep_device_of(const OrtEnv& env, Device device) {
  const auto devices = env.ep_devices();
  if (device.is_host()) return devices.front();
  const auto at =
      std::ranges::find_if(devices, [&](const OrtEpDevice* d) { return d->device_memory && abi::device_of(*d->device_memory) == device; });
  return at == devices.end() ? nullptr : *at;
}

const OrtMemoryInfo* memory_info_of(const OrtEnv& env, Device device) {
  if (device.is_host()) return &abi::host_memory_info(OrtArenaAllocator);
  const OrtEpDevice* owner = ep_device_of(env, device);
  return owner ? owner->device_memory.get() : nullptr;
}

namespace {

/// What is wrong with the library of a provider comes out when the provider is made.
ProviderChoice choice_of(const OrtEnv& env, const std::shared_ptr<const OrtSessionOptions>& options,
                         const OrtSessionOptions::Provider& provider) {
  Devices devices = provider.devices;
  try {
    if (devices.empty() && provider_registry().canonical_name(provider.name).empty())
      devices = libraries_of(env).devices_of(find_plugin_provider(env, provider.name));
  } catch (const Error& error) {
    return {provider.name, {}, [error](const std::shared_ptr<const ModelInfo>&) -> std::shared_ptr<Provider> { throw error; }};
  }
  return devices.empty() ? ProviderChoice{provider.name, {}, nullptr} : plugin_choice(env, options, std::move(devices));
}

}  // namespace

void choose_plugins(const OrtEnv& env, const OrtSessionOptions& given, SessionOptions& options) {
  const auto kept = std::make_shared<const OrtSessionOptions>(given);
  for (const OrtSessionOptions::Provider& provider : given.providers) {
    options.providers.push_back(choice_of(env, kept, provider));
    options.providers.back().options = provider.options;
  }
  if (!given.providers.empty() || (!given.selection_policy && !given.selection_delegate)) return;
  options.choose_providers = [&env, kept](const ModelInfo& model) {
    const auto all = env.ep_devices();
    return choices_of(env, kept,
                      kept->selection_delegate ? select_by_delegate(*kept, all, model) : select_by_policy(*kept->selection_policy, all));
  };
}

}  // namespace rh::capi
