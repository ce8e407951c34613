// The tables of the plugin interface behind provider.hpp.
#pragma once

#include "provider.hpp"

namespace roundhouse::ep::detail {

/// A notification, stream, allocator or copier as the interface's table.
struct NotificationTable : OrtSyncNotificationImpl {
  explicit NotificationTable(std::unique_ptr<INotification> made) : OrtSyncNotificationImpl{}, notification(std::move(made)) {
    ort_version_supported = host.version;
    Release = [](OrtSyncNotificationImpl* self) { delete static_cast<NotificationTable*>(self); };
    Activate = [](OrtSyncNotificationImpl* self) { return guard([&] { of(self).activate(); }); };
    WaitOnHost = [](OrtSyncNotificationImpl* self) { return guard([&] { of(self).wait_on_host(); }); };
    WaitOnDevice = [](OrtSyncNotificationImpl* self, OrtSyncStream* consumer) {
      return guard([&] {
        void* handle = consumer ? host.api->SyncStream_GetHandle(consumer) : nullptr;
        handle ? of(self).wait_on_stream(handle) : of(self).wait_on_host();  // a consumer without a stream is the host
      });
    };
  }
  static INotification& of(OrtSyncNotificationImpl* self) { return *static_cast<NotificationTable*>(self)->notification; }
  std::unique_ptr<INotification> notification;
};

struct StreamTable : OrtSyncStreamImpl {
  explicit StreamTable(std::unique_ptr<IStream> made) : OrtSyncStreamImpl{}, stream(std::move(made)) {
    ort_version_supported = host.version;
    Release = [](OrtSyncStreamImpl* self) { delete static_cast<StreamTable*>(self); };
    GetHandle = [](OrtSyncStreamImpl* self) { return of(self).handle(); };
    CreateNotification = [](OrtSyncStreamImpl* self, OrtSyncNotificationImpl** out) {
      return guard([&] { *out = new NotificationTable(of(self).create_notification()); });
    };
    Flush = [](OrtSyncStreamImpl* self) { return guard([&] { of(self).flush(); }); };
    OnSessionRunEnd = [](OrtSyncStreamImpl* self) { return guard([&] { of(self).end_run(); }); };
  }
  static IStream& of(OrtSyncStreamImpl* self) { return *static_cast<StreamTable*>(self)->stream; }
  std::unique_ptr<IStream> stream;
};

struct AllocatorTable : OrtAllocator {
  AllocatorTable(std::unique_ptr<IAllocator> made, const OrtMemoryInfo* memory) : OrtAllocator{}, allocator(std::move(made)), info(memory) {
    version = host.version;
    Alloc = [](OrtAllocator* self, size_t bytes) -> void* {
      try {
        return static_cast<AllocatorTable*>(self)->allocator->alloc(bytes);
      } catch (...) {
        return nullptr;  // what the interface knows for want of memory
      }
    };
    Reserve = Alloc;
    Free = [](OrtAllocator* self, void* memory) { static_cast<AllocatorTable*>(self)->allocator->free(memory); };
    Info = [](const OrtAllocator* self) { return static_cast<const AllocatorTable*>(self)->info; };
  }
  std::unique_ptr<IAllocator> allocator;
  const OrtMemoryInfo* info;
};

struct TransferTable : OrtDataTransferImpl {
  TransferTable(std::unique_ptr<IDataTransfer> made, const OrtMemoryInfo* memory)
      : OrtDataTransferImpl{}, transfer(std::move(made)), device(host.ep->MemoryInfo_GetMemoryDevice(memory)) {
    ort_version_supported = host.version;
    Release = [](OrtDataTransferImpl* self) { delete static_cast<TransferTable*>(self); };
    CanCopy = [](const OrtDataTransferImpl* self, const OrtMemoryDevice* from, const OrtMemoryDevice* to) {
      const auto& table = *static_cast<const TransferTable*>(self);
      return (table.owns(from) && (table.owns(to) || is_host(to))) || (is_host(from) && table.owns(to));
    };
    CopyTensors = [](OrtDataTransferImpl* self, const OrtValue** from, OrtValue** to, OrtSyncStream** streams, size_t count) {
      return guard([&] { static_cast<TransferTable*>(self)->copy(from, to, streams, count); });
    };
  }
  bool owns(const OrtMemoryDevice* other) const { return host.ep->MemoryDevice_AreEqual(device, other); }
  static bool is_host(const OrtMemoryDevice* other) {
    return host.ep->MemoryDevice_GetDeviceType(other) == OrtMemoryInfoDeviceType_CPU ||
           host.ep->MemoryDevice_GetMemoryType(other) == OrtDeviceMemoryType_HOST_ACCESSIBLE;
  }
  void copy(const OrtValue** from, OrtValue** to, OrtSyncStream** streams, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      void* stream = streams && streams[i] ? host.api->SyncStream_GetHandle(streams[i]) : nullptr;
      transfer->copy(view_of(from[i]), owns(host.ep->Value_GetMemoryDevice(from[i])), view_of(to[i]),
                     owns(host.ep->Value_GetMemoryDevice(to[i])), stream);
    }
  }
  std::unique_ptr<IDataTransfer> transfer;
  const OrtMemoryDevice* device;
};

struct UnitTable : OrtNodeComputeInfo {
  explicit UnitTable(NodeComputeInfo made) : OrtNodeComputeInfo{}, info(std::move(made)) {
    ort_version_supported = host.version;
    CreateState = [](OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) -> OrtStatus* {
      *state = self;
      return nullptr;
    };
    Compute = [](OrtNodeComputeInfo* self, void*, OrtKernelContext* raw) {
      return guard([&] {
        OpKernelContext context(raw);
        static_cast<UnitTable*>(self)->info.compute(context);
      });
    };
    ReleaseState = [](OrtNodeComputeInfo*, void*) {};
  }
  NodeComputeInfo info;
};

struct KernelTable : OrtKernelImpl {
  explicit KernelTable(KernelFunction made) : OrtKernelImpl{}, function(std::move(made)) {
    ort_version_supported = host.version;
    Compute = [](OrtKernelImpl* self, OrtKernelContext* raw) {
      return guard([&] {
        OpKernelContext context(raw);
        static_cast<KernelTable*>(self)->function(context);
      });
    };
    Release = [](OrtKernelImpl* self) { delete static_cast<KernelTable*>(self); };
  }
  KernelFunction function;
};

/// The host's form of a registry; the kit's entries must outlive it.
inline OrtKernelRegistry* build_registry(const KernelRegistry& kernels, const char* provider) {
  OrtKernelRegistry* registry = nullptr;
  check(host.ep->CreateKernelRegistry(&registry));
  for (const KernelRegistry::Entry& entry : kernels.entries()) {
    OrtKernelDefBuilder* builder = nullptr;
    check(host.ep->CreateKernelDefBuilder(&builder));
    const std::unique_ptr<OrtKernelDefBuilder, void (*)(OrtKernelDefBuilder*)> owner(builder, host.ep->ReleaseKernelDefBuilder);
    check(host.ep->KernelDefBuilder_SetOperatorType(builder, entry.op_type.c_str()));
    check(host.ep->KernelDefBuilder_SetDomain(builder, entry.domain.c_str()));
    check(host.ep->KernelDefBuilder_SetSinceVersion(builder, entry.since_start, entry.since_end));
    check(host.ep->KernelDefBuilder_SetExecutionProvider(builder, provider));
    for (const auto& [name, elements] : entry.types) {
      std::vector<const OrtDataType*> types(elements.size());
      for (size_t i = 0; i < types.size(); ++i) check(host.ep->GetTensorDataType(elements[i], &types[i]));
      check(host.ep->KernelDefBuilder_AddTypeConstraint(builder, name.c_str(), types.data(), types.size()));
    }
    OrtKernelDef* def = nullptr;
    check(host.ep->KernelDefBuilder_Build(builder, &def));
    const std::unique_ptr<OrtKernelDef, void (*)(OrtKernelDef*)> def_owner(def, host.ep->ReleaseKernelDef);
    const OrtKernelCreateFunc create = [](void* state, const OrtKernelInfo* info, OrtKernelImpl** out) {
      return guard([&] { *out = new KernelTable(static_cast<const KernelRegistry::Entry*>(state)->make(info)); });
    };
    check(host.ep->KernelRegistry_AddKernel(registry, def, create, const_cast<KernelRegistry::Entry*>(&entry)));
  }
  return registry;
}

template <typename Class>
struct EpTable : OrtEp {
  EpTable(const char* provider_name, const OrtSessionOptions* options) : OrtEp{}, name(provider_name), provider(options) {
    ort_version_supported = host.version;
    GetName = [](const OrtEp* self) { return static_cast<const EpTable*>(self)->name; };
    GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
      return guard([&] { static_cast<EpTable*>(self)->claim(graph, info); });
    };
    Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** nodes, size_t count, OrtNodeComputeInfo** infos, OrtNode**) {
      return guard([&] {
        for (size_t i = 0; i < count; ++i) {
          infos[i] = new UnitTable(static_cast<EpTable*>(self)->provider.Compile(GraphViewer(graphs[i]), Node(nodes[i])));
        }
      });
    };
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
      for (size_t i = 0; i < count; ++i) delete static_cast<UnitTable*>(infos[i]);
    };
    CreateSyncStreamForDevice = [](OrtEp* self, const OrtMemoryDevice*, OrtSyncStreamImpl** out) {
      return guard([&] {
        auto stream = static_cast<EpTable*>(self)->provider.CreateStream();
        *out = stream ? new StreamTable(std::move(stream)) : nullptr;
      });
    };
    kernels = host.version >= 24 ? provider.GetKernelRegistry() : nullptr;
    if (kernels) registry = build_registry(*kernels, name);
    GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** out) -> OrtStatus* {
      *out = static_cast<EpTable*>(self)->registry;
      return nullptr;
    };
  }
  ~EpTable() {
    if (registry) host.ep->ReleaseKernelRegistry(registry);
  }

  void claim(const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
    for (const ComputeCapability& taken : provider.GetCapability(GraphViewer(graph), IKernelLookup(info))) {
      std::vector<const OrtNode*> nodes;
      for (const Node& node : taken.nodes) nodes.push_back(node.raw());
      if (taken.fuse) {
        OrtNodeFusionOptions options{};
        options.ort_version_supported = host.version;
        check(host.ep->EpGraphSupportInfo_AddNodesToFuse(info, nodes.data(), nodes.size(), &options));
      } else {
        for (const OrtNode* node : nodes) check(host.ep->EpGraphSupportInfo_AddSingleNode(info, node));
      }
    }
  }

  const char* name;
  Class provider;
  std::shared_ptr<KernelRegistry> kernels;
  OrtKernelRegistry* registry = nullptr;
};

template <typename Class, typename Traits>
struct Factory : OrtEpFactory {
  explicit Factory(const char* provider_name) : OrtEpFactory{}, name(provider_name), memory(Traits::memory()) {
    ort_version_supported = host.version;
    if (!memory.name.empty()) {
      check(host.api->CreateMemoryInfo_V2(memory.name.c_str(), OrtMemoryInfoDeviceType_GPU, memory.vendor_id, memory.device_id,
                                          OrtDeviceMemoryType_DEFAULT, 0, OrtDeviceAllocator, &info));
    }
    if (info && Traits::kHostMemory) {
      check(host.api->CreateMemoryInfo_V2((memory.name + "Host").c_str(), OrtMemoryInfoDeviceType_GPU, memory.vendor_id, memory.device_id,
                                          OrtDeviceMemoryType_HOST_ACCESSIBLE, 0, OrtDeviceAllocator, &host_info));
    }
    GetName = [](const OrtEpFactory* self) { return of(self).name; };
    GetVendor = [](const OrtEpFactory*) { return Traits::kVendor; };
    GetVendorId = [](const OrtEpFactory*) { return Traits::kVendorId; };
    GetVersion = [](const OrtEpFactory*) { return Traits::kVersion; };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t count, OrtEpDevice** out, size_t room,
                             size_t* used) { return guard([&] { of(self).list(devices, count, out, room, used); }); };
    CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                  const OrtSessionOptions* options, const OrtLogger*,
                  OrtEp** ep) { return guard([&] { *ep = new EpTable<Class>(of(self).name, options); }); };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<EpTable<Class>*>(ep); };
    CreateAllocator = [](OrtEpFactory* self, const OrtMemoryInfo* wanted, const OrtKeyValuePairs*, OrtAllocator** out) {
      return guard([&] {
        const bool on_host = host.api->MemoryInfoGetDeviceMemType(wanted) == OrtDeviceMemoryType_HOST_ACCESSIBLE;
        auto made = on_host ? Traits::create_host_allocator() : Traits::create_allocator();
        *out = made ? new AllocatorTable(std::move(made), on_host ? of(self).host_info : of(self).info) : nullptr;
      });
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator* allocator) { delete static_cast<AllocatorTable*>(allocator); };
    CreateDataTransfer = [](OrtEpFactory* self, OrtDataTransferImpl** out) {
      return guard([&] {
        auto made = of(self).info ? Traits::GetDataTransfer() : nullptr;
        *out = made ? new TransferTable(std::move(made), of(self).info) : nullptr;
      });
    };
    IsStreamAware = [](const OrtEpFactory*) { return Traits::kStreams; };
    CreateSyncStreamForDevice = [](OrtEpFactory*, const OrtMemoryDevice*, const OrtKeyValuePairs*, OrtSyncStreamImpl** out) {
      return guard([&] {
        auto made = Traits::create_stream();
        *out = made ? new StreamTable(std::move(made)) : nullptr;
      });
    };
  }
  ~Factory() {
    if (info) host.api->ReleaseMemoryInfo(info);
    if (host_info) host.api->ReleaseMemoryInfo(host_info);
  }
  static Factory& of(OrtEpFactory* self) { return *static_cast<Factory*>(self); }
  static const Factory& of(const OrtEpFactory* self) { return *static_cast<const Factory*>(self); }

  // The processor stands for the device: the host need not have found one.
  void list(const OrtHardwareDevice* const* devices, size_t count, OrtEpDevice** out, size_t room, size_t* used) {
    *used = 0;
    for (size_t i = 0; i < count && *used < room; ++i) {
      if (host.api->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU) continue;
      check(host.ep->CreateEpDevice(this, devices[i], nullptr, nullptr, &out[*used]));
      if (info) check(host.ep->EpDevice_AddAllocatorInfo(out[*used], info));
      if (host_info) check(host.ep->EpDevice_AddAllocatorInfo(out[*used], host_info));
      ++*used;
      return;
    }
  }

  const char* name;
  DeviceMemory memory;
  OrtMemoryInfo* info = nullptr;
  OrtMemoryInfo* host_info = nullptr;  ///< of memory of the host that the device reaches
};

/// The newest version that the host and these headers share, 23 at least.
inline bool connect(const OrtApiBase* base) {
  if (host.api) return true;
  const char* minor = std::strchr(base->GetVersionString(), '.');
  uint32_t version = minor ? static_cast<uint32_t>(std::strtoul(minor + 1, nullptr, 10)) : 0;
  version = std::min<uint32_t>(version, ORT_API_VERSION);
  if (version < 23) return false;
  host.api = base->GetApi(version);
  if (!host.api) return false;
  host.ep = host.api->GetEpApi();
  host.version = version;
  return host.ep != nullptr;
}

template <typename Class, typename Traits>
OrtStatus* create_factories(const char* name, const OrtApiBase* base, OrtEpFactory** factories, size_t room, size_t* count) {
  *count = 0;
  if (!connect(base)) {
    const OrtApi* old = base->GetApi(1);
    return old ? old->CreateStatus(ORT_FAIL, "the provider needs a host of API version 23 or newer") : nullptr;
  }
  return guard([&] {
    if (room < 1) throw std::runtime_error("there is no room for a factory");
    factories[0] = new Factory<Class, Traits>(name);
    *count = 1;
  });
}

template <typename Class, typename Traits>
OrtStatus* release_factory(OrtEpFactory* factory) {
  delete static_cast<Factory<Class, Traits>*>(factory);
  const std::string leaks = Traits::leaks();
  return leaks.empty() ? nullptr : host.api->CreateStatus(ORT_FAIL, leaks.c_str());
}

}  // namespace roundhouse::ep::detail
