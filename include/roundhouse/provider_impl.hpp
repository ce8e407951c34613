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
    Free = [](OrtAllocator* self, void* memory) {
      if (!memory) return;  // of an empty tensor, as some hosts ask
      try {
        static_cast<AllocatorTable*>(self)->allocator->free(memory);
      } catch (...) {  // the interface has no answer here, and an exception would end the program
      }
    };
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
      const TensorView source = view_of(from[i]);
      if (source.bytes == 0) continue;  // it may have no address
      void* stream = streams && streams[i] ? host.api->SyncStream_GetHandle(streams[i]) : nullptr;
      transfer->copy(source, owns(host.ep->Value_GetMemoryDevice(from[i])), view_of(to[i]), owns(host.ep->Value_GetMemoryDevice(to[i])),
                     stream);
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

using Builder = std::unique_ptr<OrtKernelDefBuilder, void (*)(OrtKernelDefBuilder*)>;

inline Builder define_kernel(const char* provider, const char* op_type, const char* domain, int since_start, int since_end) {
  OrtKernelDefBuilder* made = nullptr;
  check(host.ep->CreateKernelDefBuilder(&made));
  Builder builder(made, host.ep->ReleaseKernelDefBuilder);
  check(host.ep->KernelDefBuilder_SetOperatorType(made, op_type));
  check(host.ep->KernelDefBuilder_SetDomain(made, domain));
  check(host.ep->KernelDefBuilder_SetSinceVersion(made, since_start, since_end));
  check(host.ep->KernelDefBuilder_SetExecutionProvider(made, provider));
  return builder;
}

inline void add_kernel(OrtKernelRegistry* registry, const Builder& builder, OrtKernelCreateFunc create, const void* state) {
  OrtKernelDef* def = nullptr;
  check(host.ep->KernelDefBuilder_Build(builder.get(), &def));
  const std::unique_ptr<OrtKernelDef, void (*)(OrtKernelDef*)> owner(def, host.ep->ReleaseKernelDef);
  check(host.ep->KernelRegistry_AddKernel(registry, def, create, const_cast<void*>(state)));
}

/// The host's form of a registry; the kit's entries must outlive it.
inline OrtKernelRegistry* build_registry(const KernelRegistry& kernels, const char* provider) {
  OrtKernelRegistry* registry = nullptr;
  check(host.ep->CreateKernelRegistry(&registry));
  for (const KernelRegistry::Entry& entry : kernels.entries()) {
    const Builder builder = define_kernel(provider, entry.op_type.c_str(), entry.domain.c_str(), entry.since_start, entry.since_end);
    for (const auto& [name, elements] : entry.types) {
      std::vector<const OrtDataType*> types(elements.size());
      for (size_t i = 0; i < types.size(); ++i) check(host.ep->GetTensorDataType(elements[i], &types[i]));
      check(host.ep->KernelDefBuilder_AddTypeConstraint(builder.get(), name.c_str(), types.data(), types.size()));
    }
    const OrtKernelCreateFunc create = [](void* state, const OrtKernelInfo* info, OrtKernelImpl** out) {
      return guard([&] { *out = new KernelTable(static_cast<const KernelRegistry::Entry*>(state)->make(info)); });
    };
    add_kernel(registry, builder, create, &entry);
  }
  return registry;
}

/// The nodes that hosts put where values go to a device and come from it. ONNX Runtime's own would hand kernels memory of the host.
inline void add_copy_kernels(OrtKernelRegistry* registry, const char* provider, IDataTransfer& transfer) {
  for (const bool to_device : {true, false}) {
    const Builder builder = define_kernel(provider, to_device ? "MemcpyFromHost" : "MemcpyToHost", "", 1, 1);
    check(to_device ? host.ep->KernelDefBuilder_SetInputMemType(builder.get(), 0, OrtMemTypeCPUInput)
                    : host.ep->KernelDefBuilder_SetOutputMemType(builder.get(), 0, OrtMemTypeCPUOutput));
    const auto kernel = [](void* state, OrtKernelImpl** out, bool into) {
      return guard([&] {
        *out = new KernelTable([copier = static_cast<IDataTransfer*>(state), into](OpKernelContext& context) {
          const TensorView from = context.input(0), to = context.output(0, from.shape);
          if (from.bytes > 0) copier->copy(from, !into, to, into, context.stream());
        });
      });
    };
    const OrtKernelCreateFunc in = [](void* state, const OrtKernelInfo*, OrtKernelImpl** out) {
      return decltype(kernel)()(state, out, true);
    };
    const OrtKernelCreateFunc out = [](void* state, const OrtKernelInfo*, OrtKernelImpl** to) {
      return decltype(kernel)()(state, to, false);
    };
    add_kernel(registry, builder, to_device ? in : out, &transfer);
  }
}

/// What a provider refused of a graph, as the host reads it.
struct Refusals {
  void read(const IExecutionProvider& provider) {
    entries.clear();
    for (const auto& [id, code, reason] : provider.refusals_) entries.push_back({id, code, reason.c_str()});
  }
  static void clear(const IExecutionProvider& provider) { provider.refusals_.clear(); }
  std::vector<RhEpRefusal> entries;
};

/// Providers are made from a session's options, or without.
template <typename Class>
Class make_provider(const OrtSessionOptions* options) {
  if constexpr (std::is_constructible_v<Class, const OrtSessionOptions*>) {
    return Class(options);
  } else {
    return Class();
  }
}

template <typename Class>
struct EpTable : OrtEp {
  EpTable(const char* provider_name, const OrtSessionOptions* options)
      : OrtEp{}, name(provider_name), provider(make_provider<Class>(options)) {
    ort_version_supported = host.version;
    GetName = [](const OrtEp* self) { return static_cast<const EpTable*>(self)->name; };
    GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
      return guard([&] { static_cast<EpTable*>(self)->claim(graph, info); });
    };
    Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** nodes, size_t count, OrtNodeComputeInfo** infos, OrtNode**) {
      return guard([&] {
        for (size_t i = 0; i < count; ++i) {
          infos[i] = new UnitTable(static_cast<EpTable*>(self)->base().Compile(GraphViewer(graphs[i]), Node(nodes[i])));
        }
      });
    };
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
      for (size_t i = 0; i < count; ++i) delete static_cast<UnitTable*>(infos[i]);
    };
    CreateSyncStreamForDevice = [](OrtEp* self, const OrtMemoryDevice*, OrtSyncStreamImpl** out) {
      return guard([&] {
        auto stream = static_cast<EpTable*>(self)->base().CreateStream();
        *out = stream ? new StreamTable(std::move(stream)) : nullptr;
      });
    };
    kernels = host.version >= 24 ? base().GetKernelRegistry() : nullptr;
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
    const IExecutionProvider& asked = base();
    Refusals::clear(asked);
    for (const auto& taken : asked.GetCapability(GraphViewer(graph), IKernelLookup(info))) {
      std::vector<const OrtNode*> nodes;
      for (const Node& node : taken->nodes) nodes.push_back(node.raw());
      if (taken->fuse) {
        OrtNodeFusionOptions options{};
        options.ort_version_supported = host.version;
        check(host.ep->EpGraphSupportInfo_AddNodesToFuse(info, nodes.data(), nodes.size(), &options));
      } else {
        for (const OrtNode* node : nodes) check(host.ep->EpGraphSupportInfo_AddSingleNode(info, node));
      }
    }
    refusals.read(asked);
  }

  IExecutionProvider& base() { return provider; }

  /// For a provider with memory of its own.
  void add_copies(std::unique_ptr<IDataTransfer> made) {
    if (!made || host.version < 24) return;
    transfer = std::move(made);
    if (!registry) check(host.ep->CreateKernelRegistry(&registry));
    add_copy_kernels(registry, name, *transfer);
  }

  const char* name;
  Class provider;
  std::shared_ptr<KernelRegistry> kernels;
  std::unique_ptr<IDataTransfer> transfer;
  OrtKernelRegistry* registry = nullptr;
  Refusals refusals;
};

template <typename Class, typename Traits>
struct Factory : OrtEpFactory {
  explicit Factory(const char* provider_name) : OrtEpFactory{}, name(provider_name), memory(Traits::memory()) {
    ort_version_supported = host.version;
    if (!memory.name.empty()) {
      check(host.api->CreateMemoryInfo_V2(memory.name.c_str(), memory.type, memory.vendor_id, memory.device_id, OrtDeviceMemoryType_DEFAULT,
                                          0, OrtDeviceAllocator, &info));
    }
    if (info && Traits::kHostMemory) {
      check(host.api->CreateMemoryInfo_V2((memory.name + "Host").c_str(), memory.type, memory.vendor_id, memory.device_id,
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
                  OrtEp** ep) { return guard([&] { *ep = of(self).template make_ep<EpTable<Class>>(options).release(); }); };
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

  template <typename Table>
  std::unique_ptr<Table> make_ep(const OrtSessionOptions* options) const {
    auto made = std::make_unique<Table>(name, options);
    if (info) made->add_copies(Traits::GetDataTransfer());
    return made;
  }

  void list(const OrtHardwareDevice* const* devices, size_t count, OrtEpDevice** out, size_t room, size_t* used) {
    std::vector<HardwareDevice> found;
    for (size_t i = 0; i < count; ++i) found.push_back(describe(devices[i]));
    offer(Traits::devices(found), out, room, used);
  }

  void offer(const std::vector<ProviderDevice>& devices, OrtEpDevice** out, size_t room, size_t* used) {
    *used = 0;
    for (const ProviderDevice& device : devices) {
      if (*used == room) throw std::runtime_error("the host has no room for more than " + std::to_string(room) + " devices");
      const OrtHardwareDevice* hardware = device.hardware.raw ? device.hardware.raw : tell_of(device.hardware);
      if (!hardware) continue;
      const Pairs metadata = pairs_of(device.metadata), options = pairs_of(device.options);
      check(host.ep->CreateEpDevice(this, hardware, metadata.get(), options.get(), &out[*used]));
      if (info) check(host.ep->EpDevice_AddAllocatorInfo(out[*used], info));
      if (host_info) check(host.ep->EpDevice_AddAllocatorInfo(out[*used], host_info));
      ++*used;
    }
  }

  static HardwareDevice describe(const OrtHardwareDevice* raw) {
    const OrtApi& api = *host.api;
    const char* vendor = api.HardwareDevice_Vendor(raw);
    HardwareDevice device{api.HardwareDevice_Type(raw), api.HardwareDevice_VendorId(raw), api.HardwareDevice_DeviceId(raw),
                          vendor ? vendor : ""};
    device.raw = raw;
    const char *const *keys = nullptr, *const *values = nullptr;
    size_t count = 0;
    if (const OrtKeyValuePairs* pairs = api.HardwareDevice_Metadata(raw)) api.GetKeyValuePairs(pairs, &keys, &values, &count);
    for (size_t i = 0; i < count; ++i) device.metadata.emplace(keys[i], values[i]);
    return device;
  }

  using Pairs = std::unique_ptr<OrtKeyValuePairs, void (*)(OrtKeyValuePairs*)>;
  static Pairs pairs_of(const std::map<std::string, std::string>& values) {
    OrtKeyValuePairs* made = nullptr;
    host.api->CreateKeyValuePairs(&made);
    for (const auto& [key, value] : values) host.api->AddKeyValuePair(made, key.c_str(), value.c_str());
    return Pairs(made, host.api->ReleaseKeyValuePairs);
  }

  /// Null where the host is too old to be told.
  const OrtHardwareDevice* tell_of(const HardwareDevice& hardware) {
    if (host.version < 24) return nullptr;
    OrtHardwareDevice* made = nullptr;
    const Pairs metadata = pairs_of(hardware.metadata);
    check(host.ep->CreateHardwareDevice(hardware.type, hardware.vendor_id, hardware.device_id, hardware.vendor.c_str(), metadata.get(),
                                        &made));
    own_hardware.emplace_back(made, host.ep->ReleaseHardwareDevice);
    return made;
  }

  const char* name;
  DeviceMemory memory;
  std::vector<std::unique_ptr<OrtHardwareDevice, void (*)(OrtHardwareDevice*)>> own_hardware;
  OrtMemoryInfo* info = nullptr;
  OrtMemoryInfo* host_info = nullptr;  ///< of memory of the host that the device reaches
};

/// The newest version that the host and these headers share, 23 at least. A library serves one runtime of a process at a time.
inline bool connect(const OrtApiBase* base) {
  if (host.api && host.base == base) return true;
  if (host.factories > 0) return false;
  const char* minor = std::strchr(base->GetVersionString(), '.');
  uint32_t version = minor ? static_cast<uint32_t>(std::strtoul(minor + 1, nullptr, 10)) : 0;
  version = std::min<uint32_t>(version, ORT_API_VERSION);
  if (version < 23) return false;
  host.api = base->GetApi(version);
  if (!host.api) return false;
  host.base = base;
  host.ep = host.api->GetEpApi();
  host.version = version;
  return host.ep != nullptr;
}

template <typename Class, typename Traits>
OrtStatus* create_factories(const char* (*name)(), const OrtApiBase* base, OrtEpFactory** factories, size_t room, size_t* count) {
  *count = 0;
  if (!connect(base)) {
    const OrtApi* old = base->GetApi(1);
    const char* reason = host.factories > 0
                             ? "the provider's library is in use by another runtime of this process: unregister it there first"
                             : "the provider needs a host of API version 23 or newer";
    return old ? old->CreateStatus(ORT_FAIL, reason) : nullptr;
  }
  return guard([&] {
    if (room < 1) throw std::runtime_error("there is no room for a factory");
    factories[0] = new Factory<Class, Traits>(name());
    *count = 1;
    ++host.factories;
  });
}

template <typename Class, typename Traits>
OrtStatus* release_factory(OrtEpFactory* factory) {
  delete static_cast<Factory<Class, Traits>*>(factory);
  --host.factories;
  const std::string leaks = Traits::leaks();
  return leaks.empty() ? nullptr : host.api->CreateStatus(ORT_FAIL, leaks.c_str());
}

template <typename Class>
OrtStatus* get_refusals(const OrtEp* ep, const RhEpRefusal** refusals, size_t* count) {
  const std::vector<RhEpRefusal>& entries = static_cast<const EpTable<Class>*>(ep)->refusals.entries;
  *refusals = entries.data();
  *count = entries.size();
  return nullptr;
}

}  // namespace roundhouse::ep::detail
