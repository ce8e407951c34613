// Domains of custom operators, and the libraries that register them.
#include <algorithm>
#include <filesystem>

#include "abi/options.h"
#include "base/dynamic_library.h"
#include "base/known_words.h"
#include "base/paths.h"
#include "capi/guard.h"
#include "capi/plugins.h"
#include "capi/session.h"
#include "capi/table.h"
#include "providers/plugin/call.h"
#include "providers/plugin/custom_op_provider.h"
#include "roundhouse/onnxruntime_c_api.h"

namespace rh::capi {

namespace {

/// Opens a library, for as long as the process lives, and lets its RegisterCustomOps fill the options.
void* register_library(OrtSessionOptions* options, const ORTCHAR_T* path) {
  void* library = open_library(path);
  const std::string name = "custom operators of '" + utf8(path) + "'";
  const auto entry = reinterpret_cast<RegisterCustomOpsFn>(find_symbol(library, "RegisterCustomOps"));
  if (!entry)
    fail(ErrorCode::fail, "{}: {}: the library has no such function, expected one that adds domains to the options", words::kNoRegister,
         name);
  plugin::call(name, "RegisterCustomOps", [&] { return entry(options, OrtGetApiBase()); });
  return library;
}

using Ops = std::vector<plugin::CustomOpEntry>;

void add_domain(const OrtCustomOpDomain& domain, Ops& ops) {
  const size_t list = ops.empty() ? 0 : ops.back().list + 1;
  for (const OrtCustomOp* op : domain.ops) ops.push_back({domain.name, op, list});
}

/// Domains that the factory of a plugin's provider brings; one of a name that is there already is left out.
void add_domains(const OrtEpDevice& device, Ops& ops) {
  OrtEpFactory& factory = *device.factory;
  if (!RH_HAS(factory, 24, GetNumCustomOpDomains) || !RH_HAS(factory, 24, GetCustomOpDomains)) return;
  size_t count = 0;
  plugin::call(device.ep_name, "OrtEpFactory::GetNumCustomOpDomains", [&] { return factory.GetNumCustomOpDomains(&factory, &count); });
  if (count > 1024) fail(ErrorCode::ep_fail, "{}: it has {} domains of custom operators, expected at most 1024", device.ep_name, count);
  std::vector<OrtCustomOpDomain*> domains(count, nullptr);
  if (count == 0) return;
  plugin::call(device.ep_name, "OrtEpFactory::GetCustomOpDomains",
               [&] { return factory.GetCustomOpDomains(&factory, domains.data(), count); });
  for (const OrtCustomOpDomain* domain : domains) {
    const auto is_same = [&](const auto& known) { return known.domain == domain->name; };
    if (domain && std::ranges::none_of(ops, is_same)) add_domain(*domain, ops);
  }
}

}  // namespace

std::shared_ptr<const CustomOperators> custom_operators(const OrtEnv& env, const OrtSessionOptions& options) {
  Ops ops;
  for (const OrtCustomOpDomain* domain : options.custom_op_domains) add_domain(*domain, ops);
  std::vector<const OrtEpFactory*> factories;
  for (const OrtSessionOptions::Provider& provider : options.providers) {
    const auto devices = provider.devices.empty() ? libraries_of(env).devices_of(provider.name) : provider.devices;
    for (const OrtEpDevice* device : devices) {
      if (!device->factory || std::ranges::find(factories, device->factory) != factories.end()) continue;
      factories.push_back(device->factory);
      add_domains(*device, ops);
    }
  }
  if (ops.empty()) return nullptr;
  auto host = std::make_shared<plugin::CustomOpHost>();
  host->api = OrtGetApiBase();
  host->config = options.config;
  host->logger = session_logger(env, &options);
  return plugin::make_custom_operators(ops, std::move(host));
}

OrtStatus* ORT_API_CALL CreateCustomOpDomain(const char* domain, OrtCustomOpDomain** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtCustomOpDomain{&checked(domain, "domain"), {}};
  });
}

OrtStatus* ORT_API_CALL CustomOpDomain_Add(OrtCustomOpDomain* domain, const OrtCustomOp* op) {
  return guard([&] { checked(domain, "custom_op_domain").ops.push_back(&checked(op, "op")); });
}

void ORT_API_CALL ReleaseCustomOpDomain(OrtCustomOpDomain* domain) { delete domain; }

OrtStatus* ORT_API_CALL AddCustomOpDomain(OrtSessionOptions* options, OrtCustomOpDomain* domain) {
  return guard([&] { checked(options, "options").custom_op_domains.push_back(&checked(domain, "custom_op_domain")); });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsLibrary(OrtSessionOptions* options, const char* path, void** handle) {
  return guard([&] {
    checked(options, "options");
    checked(handle, "library_handle") = register_library(options, as_path(&checked(path, "library_path")).c_str());
  });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsLibrary_V2(OrtSessionOptions* options, const ORTCHAR_T* path) {
  return guard([&] {
    checked(options, "options");
    register_library(options, &checked(path, "library_name"));
  });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsUsingFunction(OrtSessionOptions* options, const char* name) {
  return guard([&] {
    checked(options, "options");
    const auto entry = reinterpret_cast<RegisterCustomOpsFn>(find_symbol(nullptr, &checked(name, "registration_func_name")));
    if (!entry) fail(ErrorCode::invalid_argument, "custom operators: no function of this process is called '{}'", name);
    plugin::call("custom operators", name, [&] { return entry(options, OrtGetApiBase()); });
  });
}

OrtStatus* ORT_API_CALL CreatePrepackedWeightsContainer(OrtPrepackedWeightsContainer** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtPrepackedWeightsContainer;
  });
}

void ORT_API_CALL ReleasePrepackedWeightsContainer(OrtPrepackedWeightsContainer* container) { delete container; }

}  // namespace rh::capi
