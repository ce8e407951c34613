#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "providers/kit/host/options.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// What a session's provider is made from. What it refers to outlives the provider.
struct Setup {
  const Host& host;
  const Options& options;                ///< until the provider is made
  std::shared_ptr<DeviceDriver> driver;  ///< of the session's device; null: it works on host memory
  int device_id = 0;
  int threads = 0;  ///< of the session's operators; 0: as many as there are processors, or the host does not tell
};

/// What a library of one provider exports: what it is called, its options, and how a session's provider is made of them.
struct ProviderKind {
  const char* name;  ///< "SampleExecutionProvider": what sessions ask for
  const char* vendor;
  uint32_t vendor_id;
  const char* version;
  std::span<const OptionRow> options;
  /// Throws Error where it cannot be made, on this machine or with these options.
  std::unique_ptr<RegionProvider> (*make)(const Setup& setup);
  /// Devices with memory of their own, which hosts list, and the driver of one, opened when it is first used; null: it works on host
  /// memory.
  std::vector<DeviceSpec> (*devices)() = nullptr;
  std::shared_ptr<DeviceDriver> (*open)(int device_id) = nullptr;
};

/// For ProviderKind::make: a provider that is made from its setup, or from its options alone.
template <typename Provider>
std::unique_ptr<RegionProvider> make(const Setup& setup) {
  if constexpr (std::is_constructible_v<Provider, const Setup&>) {
    return std::make_unique<Provider>(setup);
  } else {
    return std::make_unique<Provider>(setup.options);
  }
}

/// What such a library exports: CreateEpFactories, ReleaseEpFactory, RhEpGetRefusals, RhEpGetPasses, RhEpWatchRuns, RhEpUnitHostInputs,
/// RhEpInitializerAddresses. No exception leaves them.
OrtStatus* create_factories(const ProviderKind& kind, const OrtApiBase* base, OrtEpFactory** factories, size_t room, size_t* count);
OrtStatus* release_factory(OrtEpFactory* factory);
OrtStatus* get_refusals(const OrtEp* ep, const RhEpRefusal** refusals, size_t* count);
OrtStatus* get_passes(const OrtEp* ep, const char* const** names, size_t* count);
void watch_runs(OrtEp* ep, RhAskRunStateFn ask);
OrtStatus* get_host_inputs(const OrtEp* ep, size_t unit, const char* const** names, size_t* count);
RhInitializerAddresses initializer_addresses(const OrtEp* ep);

}  // namespace rh::kit

/// Exports the provider of a library. `kind` outlives it.
#define RH_EXPORT_KIT_PROVIDER(kind)                                                                                                    \
  extern "C" {                                                                                                                          \
  ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories, \
                                                       size_t room, size_t* count) {                                                    \
    return ::rh::kit::create_factories(kind, base, factories, room, count);                                                             \
  }                                                                                                                                     \
  ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) { return ::rh::kit::release_factory(factory); }            \
  ORT_EXPORT OrtStatus* ORT_API_CALL RhEpGetRefusals(const OrtEp* ep, const RhEpRefusal** refusals, size_t* count) {                    \
    return ::rh::kit::get_refusals(ep, refusals, count);                                                                                \
  }                                                                                                                                     \
  ORT_EXPORT OrtStatus* ORT_API_CALL RhEpGetPasses(const OrtEp* ep, const char* const** names, size_t* count) {                         \
    return ::rh::kit::get_passes(ep, names, count);                                                                                     \
  }                                                                                                                                     \
  ORT_EXPORT void ORT_API_CALL RhEpWatchRuns(OrtEp* ep, RhAskRunStateFn ask) { ::rh::kit::watch_runs(ep, ask); }                        \
  ORT_EXPORT OrtStatus* ORT_API_CALL RhEpUnitHostInputs(const OrtEp* ep, size_t unit, const char* const** names, size_t* count) {       \
    return ::rh::kit::get_host_inputs(ep, unit, names, count);                                                                          \
  }                                                                                                                                     \
  ORT_EXPORT RhInitializerAddresses ORT_API_CALL RhEpInitializerAddresses(const OrtEp* ep) {                                            \
    return ::rh::kit::initializer_addresses(ep);                                                                                        \
  }                                                                                                                                     \
  }
