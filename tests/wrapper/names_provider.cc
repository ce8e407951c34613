// A library with two providers, for names of the C++ interface that providers alone use: one takes Mul with a kernel and reads all of the
// graph that it is shown, the other has a device with a stream.
#define ORT_API_MANUAL_INIT
#include "checks.h"

#include <algorithm>
#include <cstring>

namespace {

constexpr char kName[] = "NamesProvider", kStreamName[] = "NamesStreamProvider";

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Ort::ConstNode node_called(const Ort::ConstGraph& graph, const std::string& name) {
  for (const Ort::ConstNode& node : graph.GetNodes()) {
    if (node.GetName() == name) return node;
  }
  CHECK(false);
  return Ort::ConstNode(nullptr);
}

Ort::ConstValueInfo initializer_called(const Ort::ConstGraph& graph, const std::string& name) {
  for (const Ort::ConstValueInfo& value : graph.GetInitializers()) {
    if (value.GetName() == name) return value;
  }
  CHECK(false);
  return Ort::ConstValueInfo(nullptr);
}

void read_values(const Ort::ConstGraph& graph) {
  const auto inputs = graph.GetInputs();
  CHECK(inputs[0].GetName() == "x" && inputs[0].IsRequiredGraphInput() && !inputs[0].IsOptionalGraphInput());
  CHECK(inputs[0].TypeInfo().GetONNXType() == ONNX_TYPE_TENSOR && !inputs[0].IsConstantInitializer());
  CHECK(graph.GetOutputs()[0].IsGraphOutput() && !inputs[0].IsGraphOutput());
  const Ort::ConstValueInfo optional = initializer_called(graph, "o"), external = initializer_called(graph, "w");
  CHECK(optional.IsOptionalGraphInput() && !optional.IsConstantInitializer() && external.IsConstantInitializer());
  Ort::ExternalInitializerInfo where(nullptr), nowhere(nullptr);
  CHECK(external.GetExternalInitializerInfo(where).IsOK() && where.GetByteSize() == 24 && where.GetFileOffset() == 0);
  CHECK(ends_with(where.GetFilePath(), "model.bin") && where.GetConst().GetByteSize() == 24);
  CHECK(optional.GetExternalInitializerInfo(nowhere).IsOK() && !static_cast<OrtExternalInitializerInfo*>(nowhere));
  Ort::ConstValue sizes(nullptr);
  CHECK(initializer_called(graph, "s").GetInitializer(sizes).IsOK() && sizes.GetTensorData<int64_t>()[1] == 3);
  const Ort::ConstNode leaky = node_called(graph, "leaky");
  const Ort::ValueInfoConsumerProducerInfo producer = leaky.GetInputs()[0].GetProducerNode();
  CHECK(producer.node.GetName() == "mul" && producer.index == 0);
  const auto consumers = producer.node.GetOutputs()[0].GetConsumers();
  CHECK(consumers.size() == 1 && consumers[0].node.GetId() == leaky.GetId() && consumers[0].index == 0);
}

void read_attributes(const Ort::ConstGraph& graph) {
  const Ort::ConstNode leaky = node_called(graph, "leaky"), turn = node_called(graph, "turn"), fill = node_called(graph, "fill");
  Ort::ConstOpAttr alpha, perm, content;
  float slope = 0;
  CHECK(leaky.GetAttributes().size() == 1 && leaky.GetAttributeByName("alpha", alpha).IsOK());
  CHECK(alpha.GetValue(slope).IsOK() && slope == 0.25f && alpha.GetType() == ORT_OP_ATTR_FLOAT);
  std::vector<int64_t> order;
  CHECK(turn.GetAttributeByName("perm", perm).IsOK() && perm.GetValueArray(order).IsOK() && order == std::vector<int64_t>({0, 1}));
  Ort::Value two(nullptr);
  CHECK(fill.GetAttributeByName("value", content).IsOK() && content.GetTensorAttributeAsOrtValue(two).IsOK());
  CHECK(two.GetTensorData<float>()[0] == 2);
  CHECK(!leaky.GetAttributeByName("nothing", content).IsOK());
}

void read_bodies(const Ort::ConstGraph& graph) {
  const Ort::ConstNode choice = node_called(graph, "choice");
  const std::vector<Ort::AttrNameSubgraph> bodies = choice.GetSubgraphs();
  CHECK(bodies.size() == 2 && bodies[0].attr_name.find("_branch") != std::string::npos);
  const auto taken = choice.GetImplicitInputs();
  CHECK(std::any_of(taken.begin(), taken.end(), [](const Ort::ConstValueInfo& value) { return value.GetName() == "l"; }));
  for (const Ort::AttrNameSubgraph& body : bodies) {
    const Ort::ConstNode first = body.sub_graph.GetNodes()[0];
    CHECK(body.sub_graph.GetParentNode().GetName() == "choice" && first.GetInputs()[0].IsFromOuterScope());
  }
}

void read_graph(const Ort::ConstGraph& graph) {
  CHECK(graph.GetName() == "graph" && graph.GetOnnxIRVersion() == 8);
  const std::vector<Ort::OperatorSet> sets = graph.GetOperatorSets();
  CHECK(std::any_of(sets.begin(), sets.end(), [](const Ort::OperatorSet& set) { return set.domain.empty() && set.version == 17; }));
  CHECK(graph.GetModelMetadata().GetVersion() == 7 && graph.GetParentNode() == nullptr);
  const Ort::ConstNode mul = node_called(graph, "mul"), leaky = node_called(graph, "leaky");
  CHECK(mul.GetOperatorType() == "Mul" && mul.GetDomain().empty() && mul.GetSinceVersion() == 14 && mul.GetEpName().empty());
  CHECK(mul.GetGraph().GetName() == "graph" && mul.GetId() != leaky.GetId());
  const Ort::Graph view = graph.GetGraphView({mul, leaky});
  CHECK(view.GetNodes().size() == 2 && view.GetConst().GetNodes()[1].GetName() == "leaky");
  read_values(graph);
  read_attributes(graph);
  read_bodies(graph);
}

/// y = a * b, of equal shapes; b may have been packed: it is negated then.
struct MulKernel : OrtKernelImpl {
  MulKernel() : OrtKernelImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtKernelImpl* self) { delete static_cast<MulKernel*>(self); };
    OrtKernelImpl::Compute = [](OrtKernelImpl* self, OrtKernelContext* raw) -> OrtStatus* {
      const Ort::KernelContext context(raw);
      const Ort::ConstValue a = context.GetInput(0);
      const float* packed = static_cast<MulKernel*>(self)->packed;
      const float* b = packed ? packed : context.GetInput(1).GetTensorData<float>();
      Ort::UnownedValue y = context.GetOutput(0, a.GetTensorTypeAndShapeInfo().GetShape());
      const size_t count = a.GetTensorTypeAndShapeInfo().GetElementCount();
      for (size_t i = 0; i < count; ++i) y.GetTensorMutableData<float>()[i] = a.GetTensorData<float>()[i] * (packed ? -b[i] : b[i]);
      return nullptr;
    };
    PrePackWeight = [](OrtKernelImpl*, const OrtValue* tensor, int input, OrtAllocator* allocator, OrtSharedPrePackedWeightCache* cache,
                       bool* is_packed) -> OrtStatus* {
      *is_packed = input == 1 && cache;
      if (!*is_packed) return nullptr;
      const Ort::ConstValue weight(tensor);
      size_t bytes = weight.GetTensorSizeInBytes();
      void* buffer = allocator->Alloc(allocator, bytes);
      for (size_t i = 0; i < bytes / sizeof(float); ++i) static_cast<float*>(buffer)[i] = -weight.GetTensorData<float>()[i];
      return Ort::UnownedSharedPrePackedWeightCache(cache).StoreWeightData(&buffer, &bytes, 1).release();
    };
    SetSharedPrePackedWeight = [](OrtKernelImpl* self, const void* const* data, const size_t*, size_t, int) -> OrtStatus* {
      static_cast<MulKernel*>(self)->packed = static_cast<const float*>(data[0]);
      return nullptr;
    };
  }
  const float* packed = nullptr;
};

const OrtEp* g_ep = nullptr;

OrtStatus* create_kernel(void*, const OrtKernelInfo* info, OrtKernelImpl** out) {
  CHECK(Ort::ConstKernelInfo(info).GetEp() == g_ep);
  *out = new MulKernel;
  return nullptr;
}

struct Profiler : OrtEpProfilerImpl {
  Profiler() : OrtEpProfilerImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtEpProfilerImpl* self) { delete static_cast<Profiler*>(self); };
    StartProfiling = [](OrtEpProfilerImpl*, int64_t) -> OrtStatus* { return nullptr; };
    StartEvent = [](OrtEpProfilerImpl*, uint64_t) -> OrtStatus* { return nullptr; };
    StopEvent = [](OrtEpProfilerImpl*, uint64_t, const OrtProfilingEvent* event) -> OrtStatus* {
      CHECK(Ort::ConstProfilingEvent(event).GetName());
      return nullptr;
    };
    EndProfiling = [](OrtEpProfilerImpl*, OrtProfilingEventsContainer* container) -> OrtStatus* {
      std::vector<Ort::ProfilingEvent> events;
      events.emplace_back(OrtProfilingEventCategory_KERNEL, 1, 2, "an event of the provider", 30, 4);
      return Ort::UnownedProfilingEventsContainer(container).AddEvents(events).release();
    };
  }
};

struct Ep : OrtEp {
  Ep() : OrtEp{} {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEp*) { return kName; };
    GetCapability = [](OrtEp*, const OrtGraph* raw, OrtEpGraphSupportInfo* info) -> OrtStatus* {
      const Ort::ConstGraph graph(raw);
      if (graph.GetName() == "graph" && ends_with(graph.GetModelPath(), "/model.onnx")) read_graph(graph);
      for (const Ort::ConstNode& node : graph.GetNodes()) {
        if (node.GetOperatorType() != "Mul") continue;
        if (OrtStatus* status = Ort::GetEpApi().EpGraphSupportInfo_AddSingleNode(info, node)) return status;
      }
      return nullptr;
    };
    GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** out) -> OrtStatus* {
      *out = static_cast<Ep*>(self)->registry;
      return nullptr;
    };
    SetDynamicOptions = [](OrtEp*, const char* const* keys, const char* const*, size_t count) -> OrtStatus* {
      return count == 1 && std::strcmp(keys[0], "right") == 0 ? nullptr : Ort::Status("no such key", ORT_INVALID_ARGUMENT).release();
    };
    CreateProfiler = [](OrtEp*, OrtEpProfilerImpl** out) -> OrtStatus* {
      *out = new Profiler;
      return nullptr;
    };
    Ort::KernelDefBuilder builder;
    builder.SetOperatorType("Mul").SetDomain("").SetSinceVersion(14, 14).SetExecutionProvider(kName);
    builder.AddTypeConstraint("T", std::vector<const OrtDataType*>{Ort::GetTensorDataType(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)});
    CHECK(registry.AddKernel(builder.Build(), create_kernel, nullptr).IsOK());
    g_ep = this;
  }
  Ort::KernelRegistry registry;
};

struct Stream : OrtSyncStreamImpl {
  Stream() : OrtSyncStreamImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtSyncStreamImpl* self) { delete static_cast<Stream*>(self); };
    GetHandle = [](OrtSyncStreamImpl*) -> void* { return const_cast<char*>(kStreamName); };
    CreateNotification = [](OrtSyncStreamImpl*, OrtSyncNotificationImpl**) { return Ort::Status("none", ORT_FAIL).release(); };
    Flush = [](OrtSyncStreamImpl*) -> OrtStatus* { return nullptr; };
    OnSessionRunEnd = [](OrtSyncStreamImpl*) -> OrtStatus* { return nullptr; };
  }
};

struct Allocator : OrtAllocator {
  explicit Allocator(const OrtMemoryInfo* of) : OrtAllocator{}, info(of) {
    version = ORT_API_VERSION;
    Alloc = [](OrtAllocator*, size_t bytes) { return std::malloc(bytes); };
    Reserve = Alloc;
    Free = [](OrtAllocator*, void* memory) { std::free(memory); };
    Info = [](const OrtAllocator* self) { return static_cast<const Allocator*>(self)->info; };
  }
  const OrtMemoryInfo* info;
};

struct Factory : OrtEpFactory {
  explicit Factory(const char* of) : OrtEpFactory{}, name(of) {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEpFactory* self) { return static_cast<const Factory*>(self)->name; };
    GetVendor = [](const OrtEpFactory*) { return "names"; };
    GetVendorId = [](const OrtEpFactory*) -> uint32_t { return 0xBE59; };
    GetVersion = [](const OrtEpFactory*) { return "1.0.0"; };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* hardware, size_t count, OrtEpDevice** out, size_t room,
                             size_t* used) -> OrtStatus* {
      *used = 0;
      for (size_t i = 0; i < count && *used == 0 && room > 0; ++i) {
        Ort::ConstHardwareDevice device(hardware[i]);
        if (device.Type() == OrtHardwareDeviceType_CPU) out[(*used)++] = static_cast<Factory*>(self)->device_on(device);
      }
      return nullptr;
    };
    CreateEp = [](OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const* metadata, size_t, const OrtSessionOptions*,
                  const OrtLogger* logger, OrtEp** out) -> OrtStatus* {
      CHECK(std::string(Ort::ConstKeyValuePairs(metadata[0]).GetValue("made")) == "here");
      CHECK(Ort::Logger(logger).GetLoggingSeverityLevel() <= ORT_LOGGING_LEVEL_FATAL);
      *out = new Ep;
      return nullptr;
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<Ep*>(ep); };
    GetHardwareDeviceIncompatibilityDetails = [](OrtEpFactory*, const OrtHardwareDevice*, OrtDeviceEpIncompatibilityDetails* details) {
      return Ort::GetEpApi().DeviceEpIncompatibilityDetails_SetDetails(details, OrtDeviceEpIncompatibility_UNKNOWN, 7, "because");
    };
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo* info, const OrtKeyValuePairs*, OrtAllocator** out) -> OrtStatus* {
      *out = new Allocator(info);
      return nullptr;
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator* allocator) { delete static_cast<Allocator*>(allocator); };
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** out) -> OrtStatus* {
      *out = nullptr;
      return nullptr;
    };
    IsStreamAware = [](const OrtEpFactory* self) { return static_cast<const Factory*>(self)->name == kStreamName; };
    CreateSyncStreamForDevice = [](OrtEpFactory*, const OrtMemoryDevice*, const OrtKeyValuePairs*, OrtSyncStreamImpl** out) -> OrtStatus* {
      *out = new Stream;
      return nullptr;
    };
  }
  OrtEpDevice* device_on(Ort::ConstHardwareDevice& hardware) {
    Ort::KeyValuePairs metadata;
    metadata.Add("made", "here");
    Ort::EpDevice device(*this, hardware, metadata.GetConst());
    CHECK(std::string(device.EpName()) == name);
    if (name == kStreamName) Ort::ThrowOnError(Ort::GetEpApi().EpDevice_AddAllocatorInfo(device, memory));
    return device.release();
  }

  const char* name;
  Ort::MemoryInfo memory{"names", OrtMemoryInfoDeviceType_GPU, 0xBE59, 0, OrtDeviceMemoryType_DEFAULT, 0, OrtDeviceAllocator};
};

}  // namespace

extern "C" {
ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                                     size_t room, size_t* count) {
  Ort::InitApi(base->GetApi(ORT_API_VERSION));
  CHECK(room >= 2);
  factories[0] = new Factory(kName);
  factories[1] = new Factory(kStreamName);
  *count = 2;
  return nullptr;
}

ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}
}
