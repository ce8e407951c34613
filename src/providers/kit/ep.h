#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "providers/kit/options.h"
#include "providers/kit/region_provider.h"

namespace rh::kit {

/// What a library of one provider exports: what it is called, its options, and how a session's provider is made of them.
struct ProviderKind {
  const char* name;  ///< "SampleExecutionProvider": what sessions ask for
  const char* vendor;
  uint32_t vendor_id;
  const char* version;
  std::span<const OptionRow> options;
  /// Throws Error where it cannot be made, on this machine or with these options.
  std::unique_ptr<RegionProvider> (*make)(const Options& options);
};

/// For ProviderKind::make: a provider that is made from its options.
template <typename Provider>
std::unique_ptr<RegionProvider> make(const Options& options) {
  return std::make_unique<Provider>(options);
}

/// CreateEpFactories, ReleaseEpFactory and RhEpGetRefusals of such a library; providers work on host memory. No exception leaves them.
OrtStatus* create_factories(const ProviderKind& kind, const OrtApiBase* base, OrtEpFactory** factories, size_t room, size_t* count);
OrtStatus* release_factory(OrtEpFactory* factory);
OrtStatus* get_refusals(const OrtEp* ep, const RhEpRefusal** refusals, size_t* count);

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
  }
