// What providers there can be on this machine, without loading any.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "abi/allocator.h"
#include "abi/env.h"
#include "base/dynamic_library.h"
#include "capi/amx_json.h"
#include "capi/guard.h"
#include "capi/session.h"
#include "providers/known_providers.h"
#include "roundhouse/roundhouse_c_api.h"
#include "session/compile/session_providers.h"

namespace rh::capi {

namespace {

using nlohmann::json;

json to_json(const KnownProvider& provider, const std::filesystem::path& library) {
  json entry{{"name", provider.name}, {"short_name", provider.short_name}, {"library", utf8(library)}, {"reason", ""}};
  if (!provider.fate.empty()) {
    entry["state"] = "gone";
  } else if (!provider.systems.empty() && provider.systems.find(kSystemName) == std::string_view::npos) {
    entry["state"] = "not for this system";
    entry["library"] = "";  // built for its tests
  } else {
    const VendorFilesState vendor = vendor_state(provider);
    entry["state"] = library.empty() || !vendor.problem.empty() ? "missing" : "found";
    if (!vendor.problem.empty() && vendor.file.empty()) entry["library"] = "";  // of use to nobody here
  }
  if (entry["state"] != "found") entry["reason"] = why_unavailable(provider.name, provider_registry().available());
  return entry;
}

/// Files named as libraries of providers are that are none of the known ones.
json other_libraries(const std::vector<std::filesystem::path>& known) {
  const std::string pattern = provider_file("*");
  const std::string prefix = pattern.substr(0, pattern.find('*')), suffix = pattern.substr(pattern.find('*') + 1);
  std::vector<std::string> found;
  for (const auto& folder : provider_folders()) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const std::string name = utf8(at->path().filename());
      if (!name.starts_with(prefix) || !name.ends_with(suffix) || std::ranges::find(known, at->path()) != known.end()) continue;
      found.push_back(utf8(at->path()));
    }
  }
  std::ranges::sort(found);
  return found;
}

json hardware_of(const OrtEnv& env) {
  json list = json::array();
  for (const OrtHardwareDevice* device : env.hardware_devices()) {
    const char* type = device->type == OrtHardwareDeviceType_CPU ? "CPU" : device->type == OrtHardwareDeviceType_GPU ? "GPU" : "NPU";
    json metadata = json::object();
    for (const auto& [key, value] : device->metadata.pairs()) metadata[key] = value;
    list.push_back({{"type", type},
                    {"vendor", device->vendor},
                    {"vendor_id", device->vendor_id},
                    {"device_id", device->device_id},
                    {"metadata", std::move(metadata)}});
  }
  return list;
}

json list_providers(const OrtEnv& env) {
  json providers = json::array(), folders = json::array();
  for (const std::string& name : provider_registry().available()) {
    providers.push_back({{"name", name}, {"short_name", ""}, {"library", ""}, {"state", "built in"}, {"reason", ""}});
  }
  std::vector<std::filesystem::path> libraries;
  for (const KnownProvider& provider : known_providers()) {
    libraries.push_back(find_provider_library(provider));
    providers.push_back(to_json(provider, libraries.back()));
  }
  for (const auto& folder : provider_folders()) folders.push_back(utf8(folder));
  return {{"version", RhGetVersionString()},         {"folders", std::move(folders)}, {"providers", std::move(providers)},
          {"libraries", other_libraries(libraries)}, {"hardware", hardware_of(env)},  {"amx", amx_json()}};
}

}  // namespace

}  // namespace rh::capi

OrtStatus* ORT_API_CALL RhListProviders(const OrtEnv* env, OrtAllocator* allocator, char** json) {
  using namespace rh::capi;
  return guard([&] {
    char*& out = checked(json, "json");
    OrtAllocator& text = checked(allocator, "allocator");
    const nlohmann::json list = list_providers(checked(env, "env"));
    out = rh::abi::copy_string(text, list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}
