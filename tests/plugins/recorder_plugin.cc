// A provider that writes down each call that its host makes, with who calls and what is handed over: objects by the names that they got
// when they were first seen or made, so that the records of two hosts can be compared. It takes Mul on float tensors. It is written as
// authors of providers write them: it knows its memory again by the addresses of the objects that it gave.
//
// The name that it is registered as ends in what it has, behind a slash: "memory" (a device with memory and copies of its own), "streams",
// "kernels" (kernels in the place of units), "sync", "weightless". RhRecorderTake gives the record and begins a new one.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "call_record.h"
#include "roundhouse/onnxruntime_ep_c_api.h"

namespace {

constexpr char kName[] = "RecorderExecutionProvider";
constexpr uint32_t kVendor = 0xBE58;

const OrtApi* g_api = nullptr;
const OrtEpApi* g_ep = nullptr;

using namespace rh::test::calls;

OrtStatus* failure(OrtErrorCode code, const std::string& text) { return g_api->CreateStatus(code, text.c_str()); }

#define RETURN_IF_ERROR(call) \
  if (OrtStatus* status = (call)) return status

std::string entry(const OrtSessionOptions* options, const char* key) {
  size_t size = 0;
  if (OrtStatus* status = g_api->GetSessionConfigEntry(options, key, nullptr, &size)) {
    g_api->ReleaseStatus(status);
    return "none";
  }
  std::string value(size, '\0');
  if (OrtStatus* status = g_api->GetSessionConfigEntry(options, key, value.data(), &size)) {
    g_api->ReleaseStatus(status);
    return "none";
  }
  value.resize(size - 1);
  return value;
}

std::string operators(const OrtGraph* graph) {
  size_t count = 0;
  std::string text;
  if (OrtStatus* status = g_api->Graph_GetNumNodes(graph, &count)) return g_api->ReleaseStatus(status), "none";
  std::vector<const OrtNode*> nodes(count);
  if (OrtStatus* status = g_api->Graph_GetNodes(graph, nodes.data(), count)) return g_api->ReleaseStatus(status), "none";
  std::vector<std::string> list;
  for (const OrtNode* node : nodes) {
    const char* op = nullptr;
    if (OrtStatus* status = g_api->Node_GetOperatorType(node, &op)) return g_api->ReleaseStatus(status), "none";
    list.emplace_back(op);
  }
  std::sort(list.begin(), list.end());
  for (const std::string& op : list) text += (text.empty() ? "" : " ") + op;
  return text;
}

/// Of a unit: its node's name, which both hosts know.
std::string name_of_first(const OrtGraph* graph) {
  size_t count = 0;
  const char* text = "none";
  if (OrtStatus* status = g_api->Graph_GetNumNodes(graph, &count)) return g_api->ReleaseStatus(status), "none";
  std::vector<const OrtNode*> nodes(count);
  if (OrtStatus* status = g_api->Graph_GetNodes(graph, nodes.data(), count)) return g_api->ReleaseStatus(status), "none";
  if (OrtStatus* status = count ? g_api->Node_GetName(nodes[0], &text) : nullptr) return g_api->ReleaseStatus(status), "none";
  return text;
}

struct Factory;

struct Allocator : OrtAllocator {
  explicit Allocator(const OrtMemoryInfo* memory) : OrtAllocator{}, info(memory) {
    version = ORT_API_VERSION;
    Alloc = [](OrtAllocator*, size_t bytes) -> void* { return std::malloc(std::max<size_t>(bytes, 1)); };
    Reserve = Alloc;
    Free = [](OrtAllocator*, void* memory) { std::free(memory); };
    Info = [](const OrtAllocator* self) { return static_cast<const Allocator*>(self)->info; };
  }
  const OrtMemoryInfo* info;
};

struct Notification : OrtSyncNotificationImpl {
  Notification() : OrtSyncNotificationImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtSyncNotificationImpl* self) { delete static_cast<Notification*>(self); };
    Activate = [](OrtSyncNotificationImpl*) -> OrtStatus* { return nullptr; };
    WaitOnDevice = [](OrtSyncNotificationImpl*, OrtSyncStream*) -> OrtStatus* { return nullptr; };
    WaitOnHost = [](OrtSyncNotificationImpl*) -> OrtStatus* { return nullptr; };
  }
};

struct Stream : OrtSyncStreamImpl {
  Stream() : OrtSyncStreamImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtSyncStreamImpl* self) {
      add("Stream.Release " + name(self));
      delete static_cast<Stream*>(self);
    };
    GetHandle = [](OrtSyncStreamImpl* self) -> void* { return self; };
    CreateNotification = [](OrtSyncStreamImpl*, OrtSyncNotificationImpl** out) -> OrtStatus* { return *out = new Notification, nullptr; };
    Flush = [](OrtSyncStreamImpl* self) -> OrtStatus* { return add("Stream.Flush " + name(self)), nullptr; };
    OnSessionRunEnd = [](OrtSyncStreamImpl* self) -> OrtStatus* { return add("Stream.OnSessionRunEnd " + name(self)), nullptr; };
  }
};

struct Transfer : OrtDataTransferImpl {
  Transfer() : OrtDataTransferImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtDataTransferImpl* self) { delete static_cast<Transfer*>(self); };
    CanCopy = [](const OrtDataTransferImpl*, const OrtMemoryDevice* from, const OrtMemoryDevice* to) {
      const auto is_ours = [](const OrtMemoryDevice* device) {
        return g_ep->MemoryDevice_GetDeviceType(device) == OrtMemoryInfoDeviceType_GPU && g_ep->MemoryDevice_GetVendorId(device) == kVendor;
      };
      const auto is_known = [&](const OrtMemoryDevice* device) {
        return is_ours(device) || g_ep->MemoryDevice_GetDeviceType(device) == OrtMemoryInfoDeviceType_CPU;
      };
      return (is_ours(from) || is_ours(to)) && is_known(from) && is_known(to);
    };
    CopyTensors = [](OrtDataTransferImpl*, const OrtValue** from, OrtValue** to, OrtSyncStream** streams, size_t count) -> OrtStatus* {
      for (size_t i = 0; i < count; ++i) {
        const auto where = [](const OrtValue* value) {
          const OrtMemoryDevice* device = g_ep->Value_GetMemoryDevice(value);
          if (g_ep->MemoryDevice_GetDeviceType(device) == OrtMemoryInfoDeviceType_CPU) return "host";
          return g_ep->MemoryDevice_GetMemoryType(device) == OrtDeviceMemoryType_HOST_ACCESSIBLE ? "pinned" : "device";
        };
        const bool has_stream = streams && streams[i];
        add(std::string("CopyTensors ") + where(from[i]) + " to " + where(to[i]) + (has_stream ? " on a stream" : ""));
        const void* source = nullptr;
        void* target = nullptr;
        size_t bytes = 0;
        RETURN_IF_ERROR(g_api->GetTensorData(from[i], &source));
        RETURN_IF_ERROR(g_api->GetTensorMutableData(to[i], &target));
        RETURN_IF_ERROR(g_api->GetTensorSizeInBytes(from[i], &bytes));
        std::memcpy(target, source, bytes);
      }
      return nullptr;
    };
  }
};

/// y = a * b, of equal shapes or with a scalar.
OrtStatus* multiply(OrtKernelContext* context) {
  const OrtValue* inputs[2] = {};
  const float* data[2] = {};
  size_t counts[2] = {};
  std::vector<int64_t> shape;
  for (size_t i = 0; i < 2; ++i) {
    RETURN_IF_ERROR(g_api->KernelContext_GetInput(context, i, &inputs[i]));
    const void* raw = nullptr;
    RETURN_IF_ERROR(g_api->GetTensorData(inputs[i], &raw));
    data[i] = static_cast<const float*>(raw);
    OrtTensorTypeAndShapeInfo* info = nullptr;
    RETURN_IF_ERROR(g_api->GetTensorTypeAndShape(inputs[i], &info));
    size_t rank = 0;
    RETURN_IF_ERROR(g_api->GetDimensionsCount(info, &rank));
    std::vector<int64_t> dims(rank);
    RETURN_IF_ERROR(g_api->GetDimensions(info, dims.data(), rank));
    RETURN_IF_ERROR(g_api->GetTensorShapeElementCount(info, &counts[i]));
    g_api->ReleaseTensorTypeAndShapeInfo(info);
    if (i == 0 || counts[1] > counts[0]) shape = dims;
  }
  OrtValue* output = nullptr;
  RETURN_IF_ERROR(g_api->KernelContext_GetOutput(context, 0, shape.data(), shape.size(), &output));
  void* raw = nullptr;
  RETURN_IF_ERROR(g_api->GetTensorMutableData(output, &raw));
  const size_t count = std::max(counts[0], counts[1]);
  for (size_t i = 0; i < count; ++i) static_cast<float*>(raw)[i] = data[0][i % counts[0]] * data[1][i % counts[1]];
  return nullptr;
}

struct ComputeInfo : OrtNodeComputeInfo {
  explicit ComputeInfo(const OrtNode* of) : OrtNodeComputeInfo{}, node(of) {
    ort_version_supported = ORT_API_VERSION;
    CreateState = [](OrtNodeComputeInfo* self, OrtNodeComputeContext* context, void** state) -> OrtStatus* {
      const char* given = g_ep->NodeComputeContext_NodeName(context);
      const char* own = nullptr;
      RETURN_IF_ERROR(g_api->Node_GetName(static_cast<ComputeInfo*>(self)->node, &own));
      add("CreateState " + name(self) + (std::strcmp(given, own) == 0 ? " for its node" : " for another node"));
      *state = self;
      return nullptr;
    };
    Compute = [](OrtNodeComputeInfo* self, void* state, OrtKernelContext* context) -> OrtStatus* {
      // The node lives as long as the provider does: what is asked of it now is what it was when it was compiled.
      size_t inputs = 0;
      RETURN_IF_ERROR(g_api->Node_GetNumInputs(static_cast<ComputeInfo*>(self)->node, &inputs));
      add("Compute " + name(self) + (state == self ? "" : " with another state") + " of " + std::to_string(inputs));
      return multiply(context);
    };
    ReleaseState = [](OrtNodeComputeInfo* self, void* state) { add("ReleaseState " + name(self) + (state == self ? "" : " of another")); };
  }
  const OrtNode* node;
};

struct Kernel : OrtKernelImpl {
  Kernel() : OrtKernelImpl{} {
    ort_version_supported = ORT_API_VERSION;
    OrtKernelImpl::Compute = [](OrtKernelImpl* self, OrtKernelContext* context) -> OrtStatus* {
      add("Kernel.Compute " + name(self));
      return multiply(context);
    };
    Release = [](OrtKernelImpl* self) {
      add("Kernel.Release " + name(self));
      delete static_cast<Kernel*>(self);
    };
  }
};

struct Ep;

struct Factory : OrtEpFactory {
  Factory(const std::string& registered, const OrtLogger* logger);
  ~Factory();
  bool has(const char* word) const { return words.count(word) > 0; }
  OrtStatus* add_kernels();

  std::set<std::string> words;
  OrtMemoryInfo *device_memory = nullptr, *pinned_memory = nullptr;
  OrtKernelRegistry* registry = nullptr;
};

struct Ep : OrtEp {
  Ep(Factory& made_by, const OrtSessionOptions* options);
  Factory& factory;
};

// The functions of a provider, each with its line.

const char* ep_name(const OrtEp*) { return kName; }

OrtStatus* get_capability(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
  const OrtNode* parent = nullptr;
  RETURN_IF_ERROR(g_api->Graph_GetParentNode(graph, &parent));
  add("GetCapability " + name(self) + (parent ? " of a body: " : ": ") + operators(graph));
  size_t count = 0;
  RETURN_IF_ERROR(g_api->Graph_GetNumNodes(graph, &count));
  std::vector<const OrtNode*> nodes(count);
  RETURN_IF_ERROR(g_api->Graph_GetNodes(graph, nodes.data(), count));
  for (const OrtNode* node : nodes) {
    const char* op = nullptr;
    RETURN_IF_ERROR(g_api->Node_GetOperatorType(node, &op));
    if (std::strcmp(op, "Mul") != 0) continue;
    if (static_cast<Ep*>(self)->factory.has("kernels")) {
      RETURN_IF_ERROR(g_ep->EpGraphSupportInfo_AddSingleNode(info, node));
    } else {
      OrtNodeFusionOptions fusion{};
      fusion.ort_version_supported = ORT_API_VERSION;
      RETURN_IF_ERROR(g_ep->EpGraphSupportInfo_AddNodesToFuse(info, &node, 1, &fusion));
    }
  }
  return nullptr;
}

OrtStatus* compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** nodes, size_t count, OrtNodeComputeInfo** infos, OrtNode**) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    infos[i] = new ComputeInfo(nodes[i]);
    const std::string unit = name_of_first(graphs[i]);
    record().call(infos[i], unit);
    text += " " + unit + " (" + operators(graphs[i]) + ")";
  }
  add("Compile " + name(self) + ":" + text);
  return nullptr;
}

void release_infos(OrtEp* self, OrtNodeComputeInfo** infos, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    add("ReleaseNodeComputeInfos " + name(self) + " " + name(infos[i]));
    delete static_cast<ComputeInfo*>(infos[i]);
  }
}

OrtStatus* make_allocator(Factory& factory, const OrtMemoryInfo* info, OrtAllocator** out) {
  if (info != factory.device_memory && info != factory.pinned_memory) {
    return failure(ORT_INVALID_ARGUMENT, "the memory information did not come from a device of this factory");
  }
  *out = new Allocator(info);
  record().make(*out, info == factory.device_memory ? "allocator" : "pinned_allocator");
  return nullptr;
}

OrtStatus* make_stream(Factory& factory, const OrtMemoryDevice* device, const std::string& who, OrtSyncStreamImpl** out) {
  *out = new Stream;
  record().make(*out, "stream");
  add(who + " CreateSyncStreamForDevice" +
      (g_ep->MemoryInfo_GetMemoryDevice(factory.device_memory) == device ? " of its memory: " : " of other memory: ") + name(*out));
  return nullptr;
}

Ep::Ep(Factory& made_by, const OrtSessionOptions*) : OrtEp{}, factory(made_by) {
  ort_version_supported = ORT_API_VERSION;
  GetName = ep_name;
  GetCapability = get_capability;
  Compile = compile;
  ReleaseNodeComputeInfos = release_infos;
  OnRunStart = [](OrtEp* self, const OrtRunOptions* options) -> OrtStatus* {
    return add("OnRunStart " + name(self) + (options ? "" : " without options")), nullptr;
  };
  OnRunEnd = [](OrtEp* self, const OrtRunOptions* options, bool sync) -> OrtStatus* {
    return add("OnRunEnd " + name(self) + (options ? "" : " without options") + (sync ? ", waits" : "")), nullptr;
  };
  SetDynamicOptions = [](OrtEp* self, const char* const* keys, const char* const* values, size_t count) -> OrtStatus* {
    for (size_t i = 0; i < count; ++i) add("SetDynamicOptions " + name(self) + " " + keys[i] + "=" + values[i]);
    return nullptr;
  };
  OnSessionInitializationEnd = [](OrtEp* self) -> OrtStatus* { return add("OnSessionInitializationEnd " + name(self)), nullptr; };
  if (factory.has("memory")) {
    CreateAllocator = [](OrtEp* self, const OrtMemoryInfo* info, OrtAllocator** out) -> OrtStatus* {
      RETURN_IF_ERROR(make_allocator(static_cast<Ep*>(self)->factory, info, out));
      return add(name(self) + " CreateAllocator " + name(info) + ": " + name(*out)), nullptr;
    };
  }
  if (factory.has("streams")) {
    CreateSyncStreamForDevice = [](OrtEp* self, const OrtMemoryDevice* device, OrtSyncStreamImpl** out) {
      return make_stream(static_cast<Ep*>(self)->factory, device, name(self), out);
    };
  }
  if (factory.has("sync")) Sync = [](OrtEp* self) -> OrtStatus* { return add("Sync " + name(self)), nullptr; };
  if (factory.has("kernels")) {
    GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** out) -> OrtStatus* {
      *out = static_cast<Ep*>(self)->factory.registry;
      return nullptr;
    };
  }
  if (factory.has("weightless")) {
    GetWeightlessSupport = [](const OrtEp* self, OrtWeightlessSupport* support) -> OrtStatus* {
      *support = OrtWeightlessSupport_ALL;
      return add("GetWeightlessSupport " + name(self)), nullptr;
    };
  }
}

OrtStatus* create_device(Factory& factory, const OrtHardwareDevice* hardware, OrtEpDevice** out) {
  RETURN_IF_ERROR(g_ep->CreateEpDevice(&factory, hardware, nullptr, nullptr, out));
  record().call(hardware, "hardware");
  if (!factory.has("memory")) return nullptr;
  RETURN_IF_ERROR(g_ep->EpDevice_AddAllocatorInfo(*out, factory.device_memory));
  return g_ep->EpDevice_AddAllocatorInfo(*out, factory.pinned_memory);
}

OrtStatus* supported_devices(OrtEpFactory* self, const OrtHardwareDevice* const* hardware, size_t count, OrtEpDevice** out, size_t room,
                             size_t* used) {
  *used = 0;
  for (size_t i = 0; i < count && *used < room; ++i) {
    if (g_api->HardwareDevice_Type(hardware[i]) != OrtHardwareDeviceType_CPU) continue;
    return create_device(*static_cast<Factory*>(self), hardware[i], &out[(*used)++]);
  }
  return nullptr;
}

OrtStatus* create_kernel(void* state, const OrtKernelInfo* info, OrtKernelImpl** out) {
  const OrtEp* ep = nullptr;
  RETURN_IF_ERROR(g_ep->KernelInfo_GetEp(info, &ep));
  *out = new Kernel;
  char node[64] = {};
  size_t size = sizeof(node);
  RETURN_IF_ERROR(g_api->KernelInfo_GetNodeName(info, node, &size));
  record().call(*out, node);
  add("create the kernel " + name(*out) + " with " + name(state) + " for " + name(ep));
  return nullptr;
}

OrtStatus* Factory::add_kernels() {
  const OrtDataType* type = nullptr;
  RETURN_IF_ERROR(g_ep->CreateKernelRegistry(&registry));
  RETURN_IF_ERROR(g_ep->GetTensorDataType(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &type));
  OrtKernelDefBuilder* builder = nullptr;
  RETURN_IF_ERROR(g_ep->CreateKernelDefBuilder(&builder));
  RETURN_IF_ERROR(g_ep->KernelDefBuilder_SetOperatorType(builder, "Mul"));
  RETURN_IF_ERROR(g_ep->KernelDefBuilder_SetDomain(builder, ""));
  RETURN_IF_ERROR(g_ep->KernelDefBuilder_SetSinceVersion(builder, 14, 14));
  RETURN_IF_ERROR(g_ep->KernelDefBuilder_SetExecutionProvider(builder, kName));
  RETURN_IF_ERROR(g_ep->KernelDefBuilder_AddTypeConstraint(builder, "T", &type, 1));
  OrtKernelDef* definition = nullptr;
  RETURN_IF_ERROR(g_ep->KernelDefBuilder_Build(builder, &definition));
  g_ep->ReleaseKernelDefBuilder(builder);
  OrtStatus* status = g_ep->KernelRegistry_AddKernel(registry, definition, create_kernel, this);
  g_ep->ReleaseKernelDef(definition);
  return status;
}

Factory::Factory(const std::string& registered, const OrtLogger*) : OrtEpFactory{} {
  std::string rest = registered.substr(registered.find('/') + 1);
  for (size_t at = 0; at < rest.size();) {
    const size_t end = std::min(rest.find(',', at), rest.size());
    words.insert(rest.substr(at, end - at));
    at = end + 1;
  }
  ort_version_supported = ORT_API_VERSION;
  GetName = [](const OrtEpFactory*) { return kName; };
  GetVendor = [](const OrtEpFactory*) { return "Recorder"; };
  GetVendorId = [](const OrtEpFactory*) { return kVendor; };
  GetVersion = [](const OrtEpFactory*) { return "1.2.3"; };
  GetSupportedDevices = supported_devices;
  CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const* hardware, const OrtKeyValuePairs* const*, size_t count,
                const OrtSessionOptions* options, const OrtLogger*, OrtEp** out) -> OrtStatus* {
    *out = new Ep(*static_cast<Factory*>(self), options);
    record().make(*out, "ep");
    std::string text = name(self) + " CreateEp " + name(*out) + " for";
    for (size_t i = 0; i < count; ++i) text += " " + name(hardware[i]);
    add(text + ", weightless " + entry(options, "ep.enable_weightless"));
    return nullptr;
  };
  ReleaseEp = [](OrtEpFactory* self, OrtEp* ep) {
    add(name(self) + " ReleaseEp " + name(ep));
    delete static_cast<Ep*>(ep);
  };
  CreateAllocator = [](OrtEpFactory* self, const OrtMemoryInfo* info, const OrtKeyValuePairs* options, OrtAllocator** out) -> OrtStatus* {
    RETURN_IF_ERROR(make_allocator(*static_cast<Factory*>(self), info, out));
    return add(name(self) + " CreateAllocator " + name(info) + (options ? " with options" : "") + ": " + name(*out)), nullptr;
  };
  ReleaseAllocator = [](OrtEpFactory* self, OrtAllocator* allocator) {
    add(name(self) + " ReleaseAllocator " + name(allocator));
    delete static_cast<Allocator*>(allocator);
  };
  CreateDataTransfer = [](OrtEpFactory* self, OrtDataTransferImpl** out) -> OrtStatus* {
    *out = static_cast<Factory*>(self)->has("memory") ? new Transfer : nullptr;
    return nullptr;
  };
  IsStreamAware = [](const OrtEpFactory* self) { return static_cast<const Factory*>(self)->has("streams"); };
  CreateSyncStreamForDevice = [](OrtEpFactory* self, const OrtMemoryDevice* device, const OrtKeyValuePairs*, OrtSyncStreamImpl** out) {
    return make_stream(*static_cast<Factory*>(self), device, name(self), out);
  };
}

Factory::~Factory() {
  if (device_memory) g_api->ReleaseMemoryInfo(device_memory);
  if (pinned_memory) g_api->ReleaseMemoryInfo(pinned_memory);
  if (registry) g_ep->ReleaseKernelRegistry(registry);
}

OrtStatus* make_factory(const char* registered, const OrtLogger* logger, OrtEpFactory** out) {
  auto* factory = new Factory(registered, logger);
  *out = factory;
  record().clear_names();
  record().call(factory, "factory");
  if (factory->has("memory")) {
    RETURN_IF_ERROR(g_api->CreateMemoryInfo_V2("recorder", OrtMemoryInfoDeviceType_GPU, kVendor, 0, OrtDeviceMemoryType_DEFAULT, 0,
                                               OrtDeviceAllocator, &factory->device_memory));
    RETURN_IF_ERROR(g_api->CreateMemoryInfo_V2("recorder pinned", OrtMemoryInfoDeviceType_GPU, kVendor, 0,
                                               OrtDeviceMemoryType_HOST_ACCESSIBLE, 0, OrtDeviceAllocator, &factory->pinned_memory));
    record().call(factory->device_memory, "memory");
    record().call(factory->pinned_memory, "pinned");
  }
  return factory->has("kernels") ? factory->add_kernels() : nullptr;
}

}  // namespace

extern "C" {
ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char* registered, const OrtApiBase* base, const OrtLogger* logger,
                                                     OrtEpFactory** factories, size_t, size_t* count) {
  g_api = base->GetApi(ORT_API_VERSION);
  g_ep = g_api->GetEpApi();
  *count = 1;
  return make_factory(registered, logger, &factories[0]);
}

ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  add("ReleaseEpFactory " + name(factory));
  delete static_cast<Factory*>(factory);
  return nullptr;
}

ORT_EXPORT const char* RhRecorderTake() { return take_record(); }
}
