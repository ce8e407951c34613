// A library of providers that stands between a host and another such library, and writes down each call of the host to a factory, a
// provider or a unit of it. RH_RELAYED has the other library's path. RhRecorderTake gives the record and begins a new one.
//
// The other library gets tables of which CreateEpDevice, EpDevice_AddAllocatorInfo and KernelInfo_GetEp are this library's, so that the
// host only ever sees the factories and providers of this one.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "call_record.h"
#include "roundhouse/onnxruntime_ep_c_api.h"

namespace {

using namespace rh::test::calls;

const OrtApi* g_api = nullptr;  // the host's

struct Factory : OrtEpFactory {
  OrtEpFactory* other = nullptr;
};
struct Ep : OrtEp {
  OrtEp* other = nullptr;
};
struct Unit : OrtNodeComputeInfo {
  OrtNodeComputeInfo* other = nullptr;
};

template <typename T>
auto* other_of(T* self) {
  using Bare = std::remove_const_t<T>;
  using Mine = std::conditional_t<std::is_same_v<Bare, OrtEpFactory>, Factory, std::conditional_t<std::is_same_v<Bare, OrtEp>, Ep, Unit>>;
  using Kept = std::conditional_t<std::is_const_v<T>, const Mine, Mine>;
  return static_cast<T*>(static_cast<Kept*>(self)->other);
}

/// What an argument is, as both hosts would say it.
std::string told(const OrtGraph* graph) {
  size_t nodes = 0;
  const OrtNode* parent = nullptr;
  if (OrtStatus* status = g_api->Graph_GetNumNodes(graph, &nodes)) g_api->ReleaseStatus(status);
  if (OrtStatus* status = g_api->Graph_GetParentNode(graph, &parent)) g_api->ReleaseStatus(status);
  return (parent ? "a body of " : "a graph of ") + std::to_string(nodes);
}
std::string told(const OrtMemoryInfo* info) { return name(info); }
std::string told(OrtAllocator* allocator) { return name(allocator); }
std::string told(const OrtHardwareDevice* device) { return std::to_string(static_cast<int>(g_api->HardwareDevice_Type(device))); }
std::string told(const char* text) { return text ? text : "null"; }
template <typename T>
std::string told(const T& value) {
  if constexpr (std::is_pointer_v<T>) {
    return value ? "given" : "null";
  } else {
    return std::to_string(static_cast<long long>(value));
  }
}

/// Writes the call down and hands it on.
template <auto Member>
struct Relayed;
template <typename T, typename R, typename Self, typename... Args, R (*T::*Member)(Self, Args...)>
struct Relayed<Member> {
  static inline const char* what = "";
  static R call(Self self, Args... args) {
    std::string line = name(self) + " " + what;
    ((line += " " + told(args)), ...);
    add(line);
    return (other_of(self)->*Member)(other_of(self), args...);
  }
};

/// A member that the other table has, if it is as new as this.
template <auto Member, typename T, typename Mine>
void relay(Mine& mine, const T& other, uint32_t since, const char* what) {
  if (other.ort_version_supported < since || !(other.*Member)) return;
  Relayed<Member>::what = what;
  mine.*Member = Relayed<Member>::call;
}

#define RELAY(type, since, member) relay<&type::member>(*this, *other, since, #member)

struct RelayedUnit : Unit {
  explicit RelayedUnit(OrtNodeComputeInfo* of, const std::string& called) : Unit{} {
    other = of;
    ort_version_supported = of->ort_version_supported;
    record().call(static_cast<OrtNodeComputeInfo*>(this), called);
    RELAY(OrtNodeComputeInfo, 0, CreateState);
    RELAY(OrtNodeComputeInfo, 0, Compute);
    RELAY(OrtNodeComputeInfo, 0, ReleaseState);
  }
};

struct RelayedEp : Ep {
  explicit RelayedEp(OrtEp* of);
};

OrtStatus* compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** nodes, size_t count, OrtNodeComputeInfo** infos,
                   OrtNode** contexts) {
  std::string line = name(self) + " Compile " + std::to_string(count) + ":";
  for (size_t i = 0; i < count; ++i) line += " " + told(graphs[i]);
  add(line + (contexts ? ", with room for contexts" : ""));
  OrtEp* other = other_of(self);
  if (OrtStatus* status = other->Compile(other, graphs, nodes, count, infos, contexts)) return status;
  for (size_t i = 0; i < count; ++i) infos[i] = infos[i] ? new RelayedUnit(infos[i], "unit" + std::to_string(i + 1)) : nullptr;
  return nullptr;
}

void release_units(OrtEp* self, OrtNodeComputeInfo** infos, size_t count) {
  std::vector<OrtNodeComputeInfo*> others;
  for (size_t i = 0; i < count; ++i) {
    add(name(self) + " ReleaseNodeComputeInfos " + name(infos[i]));
    others.push_back(infos[i] ? other_of(infos[i]) : nullptr);
    delete static_cast<RelayedUnit*>(static_cast<Unit*>(infos[i]));
  }
  OrtEp* other = other_of(self);
  other->ReleaseNodeComputeInfos(other, others.data(), count);
}

RelayedEp::RelayedEp(OrtEp* of) : Ep{} {
  other = of;
  ort_version_supported = of->ort_version_supported;
  record().make(static_cast<OrtEp*>(this), "ep");
  GetName = [](const OrtEp* self) { return other_of(self)->GetName(other_of(self)); };
  RELAY(OrtEp, 23, GetCapability);
  if (of->Compile) Compile = compile;
  if (of->ReleaseNodeComputeInfos) ReleaseNodeComputeInfos = release_units;
  RELAY(OrtEp, 23, GetPreferredDataLayout);
  RELAY(OrtEp, 23, ShouldConvertDataLayoutForOp);
  RELAY(OrtEp, 23, SetDynamicOptions);
  RELAY(OrtEp, 23, OnRunStart);
  RELAY(OrtEp, 23, OnRunEnd);
  RELAY(OrtEp, 23, CreateAllocator);
  RELAY(OrtEp, 23, CreateSyncStreamForDevice);
  RELAY(OrtEp, 23, GetCompiledModelCompatibilityInfo);
  RELAY(OrtEp, 24, GetKernelRegistry);
  RELAY(OrtEp, 24, IsConcurrentRunSupported);
  RELAY(OrtEp, 25, Sync);
  RELAY(OrtEp, 25, CreateProfiler);
  RELAY(OrtEp, 26, IsGraphCaptureEnabled);
  RELAY(OrtEp, 26, IsGraphCaptured);
  RELAY(OrtEp, 26, ReplayGraph);
  RELAY(OrtEp, 26, GetGraphCaptureNodeAssignmentPolicy);
  RELAY(OrtEp, 26, GetAvailableResource);
  RELAY(OrtEp, 27, OnSessionInitializationEnd);
  RELAY(OrtEp, 27, GetDefaultMemoryDevice);
  RELAY(OrtEp, 27, ReleaseCapturedGraph);
  RELAY(OrtEp, 29, GetWeightlessSupport);
  RELAY(OrtEp, 31, GetEpContextDataCallbackSupport);
}

/// The session's entries that a provider can see, of paths the last part.
std::string entries_of(const OrtSessionOptions* options) {
  OrtKeyValuePairs* pairs = nullptr;
  if (OrtStatus* status = g_api->GetSessionOptionsConfigEntries(options, &pairs)) return g_api->ReleaseStatus(status), " unknown";
  const char *const *keys = nullptr, *const *values = nullptr;
  size_t count = 0;
  g_api->GetKeyValuePairs(pairs, &keys, &values, &count);
  std::map<std::string, std::string> sorted;
  for (size_t i = 0; i < count; ++i) sorted[keys[i]] = values[i];
  g_api->ReleaseKeyValuePairs(pairs);
  std::string text;
  for (const auto& [key, value] : sorted) text += " " + key + "=" + value.substr(value.rfind('/') + 1);
  return text;
}

OrtStatus* create_ep(OrtEpFactory* self, const OrtHardwareDevice* const* devices, const OrtKeyValuePairs* const* metadata, size_t count,
                     const OrtSessionOptions* options, const OrtLogger* logger, OrtEp** ep) {
  std::string line = name(self) + " CreateEp";
  for (size_t i = 0; i < count; ++i) line += " " + told(devices[i]) + " " + told(metadata[i]);
  line += entries_of(options);
  OrtEpFactory* other = other_of(self);
  OrtStatus* status = other->CreateEp(other, devices, metadata, count, options, logger, ep);
  if (!status) *ep = new RelayedEp(*ep);
  add(line + (status ? " fails" : ": " + name(*ep)));
  return status;
}

void release_ep(OrtEpFactory* self, OrtEp* ep) {
  add(name(self) + " ReleaseEp " + name(ep));
  OrtEpFactory* other = other_of(self);
  other->ReleaseEp(other, other_of(ep));
  delete static_cast<RelayedEp*>(static_cast<Ep*>(ep));
}

struct RelayedFactory : Factory {
  explicit RelayedFactory(OrtEpFactory* of) : Factory{} {
    other = of;
    ort_version_supported = of->ort_version_supported;
    record().make(static_cast<OrtEpFactory*>(this), "factory");
    GetName = [](const OrtEpFactory* self) { return other_of(self)->GetName(other_of(self)); };
    GetVendor = [](const OrtEpFactory* self) { return other_of(self)->GetVendor(other_of(self)); };
    RELAY(OrtEpFactory, 22, GetSupportedDevices);
    CreateEp = create_ep;
    ReleaseEp = release_ep;
    if (of->ort_version_supported >= 23 && of->GetVendorId) {
      GetVendorId = [](const OrtEpFactory* self) { return other_of(self)->GetVendorId(other_of(self)); };
    }
    if (of->ort_version_supported >= 23 && of->GetVersion) {
      GetVersion = [](const OrtEpFactory* self) { return other_of(self)->GetVersion(other_of(self)); };
    }
    RELAY(OrtEpFactory, 23, ValidateCompiledModelCompatibilityInfo);
    RELAY(OrtEpFactory, 23, CreateAllocator);
    RELAY(OrtEpFactory, 23, ReleaseAllocator);
    RELAY(OrtEpFactory, 23, CreateDataTransfer);
    RELAY(OrtEpFactory, 23, IsStreamAware);
    RELAY(OrtEpFactory, 23, CreateSyncStreamForDevice);
    RELAY(OrtEpFactory, 24, GetHardwareDeviceIncompatibilityDetails);
    RELAY(OrtEpFactory, 24, CreateExternalResourceImporterForDevice);
    RELAY(OrtEpFactory, 24, GetNumCustomOpDomains);
    RELAY(OrtEpFactory, 24, GetCustomOpDomains);
    RELAY(OrtEpFactory, 25, InitGraphicsInterop);
    RELAY(OrtEpFactory, 25, DeinitGraphicsInterop);
    RELAY(OrtEpFactory, 28, SelectBestModelCandidate);
  }
};

/// The other library, and the tables that it is given.
struct Other {
  static Other& get() {
    static Other only;
    return only;
  }
  void* library = nullptr;
  OrtApi api;
  OrtEpApi ep_api;
  const OrtEpApi* hosts = nullptr;
  OrtApiBase base;
  const OrtApiBase* hosts_base = nullptr;
  std::map<OrtEpFactory*, OrtEpFactory*> relays;
  std::vector<std::unique_ptr<RelayedFactory>> factories;

  /// The factory of this library in front of one of the other's; made when it is first wanted.
  OrtEpFactory* relay_of(OrtEpFactory* factory) {
    if (const auto at = relays.find(factory); at != relays.end()) return at->second;
    factories.push_back(std::make_unique<RelayedFactory>(factory));
    return relays[factory] = factories.back().get();
  }
};

const OrtApi* ORT_API_CALL api_of(uint32_t version) {
  Other& other = Other::get();
  return version <= ORT_API_VERSION && other.hosts_base->GetApi(version) ? &other.api : nullptr;
}

void prepare(const OrtApiBase* base) {
  Other& other = Other::get();
  g_api = base->GetApi(ORT_API_VERSION);
  other.hosts_base = base;
  other.hosts = g_api->GetEpApi();
  std::memcpy(&other.api, g_api, sizeof(OrtApi));
  std::memcpy(&other.ep_api, other.hosts, sizeof(OrtEpApi));
  other.base = *base;
  other.base.GetApi = api_of;
  other.api.GetEpApi = []() -> const OrtEpApi* { return &Other::get().ep_api; };
  other.ep_api.CreateEpDevice = [](OrtEpFactory* factory, const OrtHardwareDevice* hardware, const OrtKeyValuePairs* metadata,
                                   const OrtKeyValuePairs* options, OrtEpDevice** device) {
    return Other::get().hosts->CreateEpDevice(Other::get().relay_of(factory), hardware, metadata, options, device);
  };
  other.ep_api.EpDevice_AddAllocatorInfo = [](OrtEpDevice* device, const OrtMemoryInfo* info) {
    if (name(info) == "other") record().make(info, "memory");
    return Other::get().hosts->EpDevice_AddAllocatorInfo(device, info);
  };
  other.ep_api.KernelInfo_GetEp = [](const OrtKernelInfo* info, const OrtEp** ep) {
    OrtStatus* status = Other::get().hosts->KernelInfo_GetEp(info, ep);
    if (!status && *ep) *ep = other_of(*ep);
    return status;
  };
}

}  // namespace

extern "C" {
ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char* registered, const OrtApiBase* base, const OrtLogger* logger,
                                                     OrtEpFactory** factories, size_t room, size_t* count) {
  prepare(base);
  record().clear_names();
  Other& other = Other::get();
  const char* path = std::getenv("RH_RELAYED");
  other.library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!other.library) return g_api->CreateStatus(ORT_FAIL, path ? dlerror() : "RH_RELAYED does not name a library");
  const auto create = reinterpret_cast<CreateEpApiFactoriesFn>(dlsym(other.library, "CreateEpFactories"));
  if (!create) return g_api->CreateStatus(ORT_FAIL, "the relayed library has no CreateEpFactories");
  if (OrtStatus* status = create(registered, &other.base, logger, factories, room, count)) return status;
  for (size_t i = 0; i < *count; ++i) factories[i] = other.relay_of(factories[i]);
  return nullptr;
}

ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  add("ReleaseEpFactory " + name(factory));
  Other& other = Other::get();
  OrtEpFactory* relayed = other_of(factory);
  other.relays.erase(relayed);
  const auto release = reinterpret_cast<ReleaseEpApiFactoryFn>(dlsym(other.library, "ReleaseEpFactory"));
  return release ? release(relayed) : nullptr;
}

ORT_EXPORT const char* RhRecorderTake() { return take_record(); }
}
