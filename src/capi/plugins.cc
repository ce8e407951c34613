#include "capi/plugins.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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

/// As selections prefer them: NPUs, GPUs (discrete ones first), processors; of one kind first those whose vendor made the hardware, and the
/// built-in provider last; then by name.
Devices in_order(std::span<const OrtEpDevice* const> all) {
  const auto rank = [](const OrtEpDevice* device) {
    const OrtHardwareDevice& hardware = *device->device;
    const int kind = hardware.type == OrtHardwareDeviceType_NPU ? 0 : hardware.type == OrtHardwareDeviceType_GPU ? 1 : 2;
    const char* discrete = hardware.metadata.find("Discrete");
    return std::tuple(kind, !(kind == 1 && discrete && std::string_view(discrete) == "1"), device->ep_vendor != hardware.vendor,
                      !device->factory, std::string_view(device->ep_name));
  };
  Devices ordered;
  std::ranges::copy_if(all, std::back_inserter(ordered), [](const OrtEpDevice* device) { return device->device != nullptr; });
  std::ranges::stable_sort(ordered, {}, rank);
  return ordered;
}

/// The first device of the preferred kind, and behind it the first one that stands for a processor; the built-in provider comes last in
/// any case.
Devices select_by_policy(OrtExecutionProviderDevicePolicy policy, const Devices& ordered) {
  Devices selected;
  const auto add_first = [&](OrtHardwareDeviceType type) {
    const auto at = std::ranges::find_if(ordered, [&](const OrtEpDevice* d) { return d->factory && d->device->type == type; });
    if (at != ordered.end()) selected.push_back(*at);
  };
  if (const OrtHardwareDeviceType type = preferred_type(policy); type != OrtHardwareDeviceType_CPU) add_first(type);
  add_first(OrtHardwareDeviceType_CPU);
  return selected;
}

Devices select_by_delegate(const OrtSessionOptions& options, Devices offered, const ModelInfo& model) {
  std::map<std::string, std::string> facts(model.metadata.begin(), model.metadata.end());
  facts["producer_name"] = model.producer_name;
  facts["producer_version"] = model.producer_version;
  facts["domain"] = model.domain;
  facts["doc_string"] = model.description;
  facts["graph_description"] = model.graph_description;
  facts["model_version"] = std::to_string(model.model_version);
  const OrtKeyValuePairs metadata(std::move(facts)), runtime;
  const OrtEpDevice* selected[kMaxSelected] = {};
  size_t count = 0;
  const Status status = plugin::try_call("session options", "the selection delegate", [&] {
    return options.selection_delegate(offered.data(), offered.size(), &metadata, &runtime, selected, kMaxSelected, &count,
                                      options.selection_state);
  });
  if (!status.ok()) fail(ErrorCode::fail, "{}", status.message());  // whatever its own code is
  if (count > kMaxSelected) fail(ErrorCode::fail, "the selection delegate chose {} devices, expected at most {}", count, kMaxSelected);
  for (size_t i = 0; i < count; ++i) {
    if (std::ranges::find(offered, selected[i]) == offered.end())
      fail(ErrorCode::fail, "the selection delegate chose a device that it was not offered");
  }
  if (count == 0) fail(ErrorCode::fail, "the selection delegate chose no device: let it choose the CPU's where no other is right");
  return Devices(selected, selected + count);
}

/// With the options that the devices bring, where the session does not say otherwise.
std::shared_ptr<const OrtSessionOptions> with_options_of(const Devices& devices, const std::shared_ptr<const OrtSessionOptions>& options) {
  auto complete = std::make_shared<OrtSessionOptions>(*options);
  for (const OrtEpDevice* device : devices) {
    for (const auto& [key, value] : device->options.pairs()) {
      const std::string entry = fmt::format("ep.{}.{}", lower(device->ep_name), key);
      if (!complete->config.find(entry)) complete->config.set(entry, value);
    }
  }
  return complete;
}

/// Devices of one provider become one choice, which stands where the first of them does.
std::vector<ProviderChoice> choices_of(const OrtEnv& env, const std::shared_ptr<const OrtSessionOptions>& options, Devices devices) {
  std::vector<ProviderChoice> choices;
  while (!devices.empty()) {
    const OrtEpDevice* first = devices[0];
    const auto others = std::ranges::stable_partition(
        devices, [&](const OrtEpDevice* d) { return d->factory == first->factory && d->ep_name == first->ep_name; });
    Devices own(devices.begin(), others.begin());
    devices.erase(devices.begin(), others.begin());
    if (first->factory) {
      auto complete = with_options_of(own, options);
      choices.push_back(plugin_choice(env, std::move(complete), std::move(own)));
    } else {
      choices.push_back({first->ep_name, {}, nullptr});
    }
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

std::string find_plugin_provider(const OrtEnv& env, std::string_view name, bool vendor_is_named) {
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
  if (file.empty() || (!vendor_is_named && !vendor_state(*known).problem.empty())) return {};
  if (!libraries.has(known->name)) libraries.add(known->name, file.c_str(), *OrtGetApiBase(), env.logger);
  if (libraries.devices_of(known->name).empty()) without_devices(known->name, utf8(file));
  return std::string(known->name);
}

const OrtEpDevice* ep_device_of(const OrtSession& session, Device device) {
  const auto devices = session.env->ep_devices();
  if (device.is_host()) return devices.front();
  const std::shared_ptr<Provider> provider = session_of(&session).provider_on(device);
  const auto has = [&](const OrtEpDevice* d) { return d->device_memory && abi::device_of(*d->device_memory) == device; };
  auto at = std::ranges::find_if(devices, [&](const OrtEpDevice* d) { return has(d) && provider && d->ep_name == provider->name(); });
  if (at == devices.end()) at = std::ranges::find_if(devices, has);
  return at == devices.end() ? nullptr : *at;
}

const OrtMemoryInfo* memory_info_of(const OrtSession& session, Device device) {
  if (device.is_host()) return &abi::host_memory_info(OrtArenaAllocator);
  const OrtEpDevice* owner = ep_device_of(session, device);
  return owner ? owner->device_memory : nullptr;
}

namespace {

/// What is wrong with the library of a provider comes out when the provider is made.
ProviderChoice choice_of(const OrtEnv& env, const std::shared_ptr<const OrtSessionOptions>& options,
                         const OrtSessionOptions::Provider& provider) {
  Devices devices = provider.devices;
  try {
    if (devices.empty() && provider_registry().canonical_name(provider.name).empty()) {
      devices =
          libraries_of(env).devices_of(find_plugin_provider(env, provider.name, provider.options.contains(std::string(kVendorOption))));
    }
  } catch (const Error& error) {
    return {provider.name, {}, [error](const std::shared_ptr<const ModelInfo>&) -> std::shared_ptr<Provider> { throw error; }};
  }
  if (devices.empty()) return {provider.name, {}, nullptr};
  return plugin_choice(env, options, std::move(devices));
}

}  // namespace

void choose_plugins(const OrtEnv& env, const OrtSessionOptions& given, SessionOptions& options) {
  const auto copy = std::make_shared<OrtSessionOptions>(given);
  // The interface has no function that tells a provider how many threads the session has.
  if (given.intra_op_threads > 0) copy->config.set("session.intra_op_num_threads", std::to_string(given.intra_op_threads));
  const std::shared_ptr<const OrtSessionOptions> kept = copy;
  for (const OrtSessionOptions::Provider& provider : given.providers) {
    options.providers.push_back(choice_of(env, kept, provider));
    options.providers.back().options = provider.options;
  }
  if (!given.providers.empty() || (!given.selection_policy && !given.selection_delegate)) return;
  options.choose_providers = [&env, kept](const ModelInfo& model) {
    const Devices ordered = in_order(env.ep_devices());
    return choices_of(
        env, kept,
        kept->selection_delegate ? select_by_delegate(*kept, ordered, model) : select_by_policy(*kept->selection_policy, ordered));
  };
}

}  // namespace rh::capi
