// Two providers as ONNX Runtime's guide for authors has them, over the C++ wrapper: one compiles each Mul of floats to a unit, keeps the
// constants of it, writes and reads EPContext nodes and needs no weights at hand; the other has a kernel for Mul in a registry of kernels.
// Both have memory of their own, which they know by the address of what they gave.
#define ORT_API_MANUAL_INIT
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "roundhouse/onnxruntime_cxx_api.h"

namespace {

constexpr char kCompiling[] = "TemplateCompilingProvider", kKernels[] = "TemplateKernelProvider";
constexpr char kCompatibility[] = "template 1";
constexpr uint32_t kVendor = 0xBE5A;

template <typename F>
OrtStatus* guarded(F&& body) {
  try {
    body();
    return nullptr;
  } catch (const Ort::Exception& error) {
    return Ort::Status(error.what(), error.GetOrtErrorCode()).release();
  } catch (const std::exception& error) {
    return Ort::Status(error.what(), ORT_EP_FAIL).release();
  }
}

struct Allocator : OrtAllocator {
  explicit Allocator(const OrtMemoryInfo* memory) : OrtAllocator{}, info(memory) {
    version = ORT_API_VERSION;
    Alloc = [](OrtAllocator*, size_t bytes) -> void* { return std::malloc(bytes ? bytes : 1); };
    Reserve = Alloc;
    Free = [](OrtAllocator*, void* memory) { std::free(memory); };
    Info = [](const OrtAllocator* self) { return static_cast<const Allocator*>(self)->info; };
  }
  const OrtMemoryInfo* info;
};

struct Transfer : OrtDataTransferImpl {
  explicit Transfer(const OrtMemoryInfo* memory) : OrtDataTransferImpl{}, device(Ort::GetEpApi().MemoryInfo_GetMemoryDevice(memory)) {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtDataTransferImpl* self) { delete static_cast<Transfer*>(self); };
    CanCopy = [](const OrtDataTransferImpl* self, const OrtMemoryDevice* from, const OrtMemoryDevice* to) {
      const OrtMemoryDevice* own = static_cast<const Transfer*>(self)->device;
      const auto is_own = [&](const OrtMemoryDevice* other) { return Ort::GetEpApi().MemoryDevice_AreEqual(own, other); };
      const auto is_host = [](const OrtMemoryDevice* other) {
        return Ort::GetEpApi().MemoryDevice_GetDeviceType(other) == OrtMemoryInfoDeviceType_CPU;
      };
      return (is_own(from) || is_own(to)) && (is_own(from) || is_host(from)) && (is_own(to) || is_host(to));
    };
    CopyTensors = [](OrtDataTransferImpl*, const OrtValue** from, OrtValue** to, OrtSyncStream**, size_t count) {
      return guarded([&] {
        for (size_t i = 0; i < count; ++i) {
          const Ort::ConstValue source(from[i]);
          std::memcpy(Ort::UnownedValue(to[i]).GetTensorMutableRawData(), source.GetTensorRawData(), source.GetTensorSizeInBytes());
        }
      });
    };
  }
  const OrtMemoryDevice* device;
};

/// One operand of a Mul that was constant when it was compiled: which, and what. Which is -1 where neither was.
struct Constant {
  int at = -1;
  std::vector<float> data;
  std::vector<int64_t> shape;

  std::string text() const {
    std::ostringstream out;
    out << at << ' ' << shape.size();
    for (const int64_t size : shape) out << ' ' << size;
    for (const float number : data) out << ' ' << number;
    return out.str();
  }
  static Constant parse(const std::string& text) {
    Constant made;
    std::istringstream in(text);
    size_t rank = 0;
    if (!(in >> made.at >> rank)) throw std::runtime_error("the compiled data is not what this provider writes");
    made.shape.resize(rank);
    for (int64_t& size : made.shape) in >> size;
    for (float number; in >> number;) made.data.push_back(number);
    return made;
  }
};

struct Operand {
  const float* data = nullptr;
  size_t count = 0;
  std::vector<int64_t> shape;
};

Operand operand(const Ort::ConstValue& value) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  return {value.GetTensorData<float>(), info.GetElementCount(), info.GetShape()};
}

/// Of equal shapes, or with one number.
void multiply(const Ort::KernelContext& context, const Operand& a, const Operand& b) {
  const Operand& larger = a.count < b.count ? b : a;
  float* y = context.GetOutput(0, larger.shape).GetTensorMutableData<float>();
  for (size_t i = 0; i < larger.count; ++i) y[i] = a.data[i % a.count] * b.data[i % b.count];
}

struct Unit : OrtNodeComputeInfo {
  explicit Unit(Constant with) : OrtNodeComputeInfo{}, constant(std::move(with)) {
    ort_version_supported = ORT_API_VERSION;
    CreateState = [](OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) -> OrtStatus* { return *state = self, nullptr; };
    ReleaseState = [](OrtNodeComputeInfo*, void*) {};
    Compute = [](OrtNodeComputeInfo* self, void*, OrtKernelContext* raw) {
      return guarded([&] {
        const Ort::KernelContext context(raw);
        const Constant& kept = static_cast<Unit*>(self)->constant;
        const Operand constant{kept.data.data(), kept.data.size(), kept.shape}, given = operand(context.GetInput(0));
        if (kept.at < 0) return multiply(context, given, operand(context.GetInput(1)));
        multiply(context, kept.at == 0 ? constant : given, kept.at == 0 ? given : constant);
      });
    };
  }
  Constant constant;
};

struct Kernel : OrtKernelImpl {
  Kernel() : OrtKernelImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtKernelImpl* self) { delete static_cast<Kernel*>(self); };
    OrtKernelImpl::Compute = [](OrtKernelImpl*, OrtKernelContext* raw) {
      return guarded([&] {
        const Ort::KernelContext context(raw);
        multiply(context, operand(context.GetInput(0)), operand(context.GetInput(1)));
      });
    };
  }
};

struct Factory;

struct Ep : OrtEp {
  Ep(Factory& made_by, Ort::ConstSessionOptions options);
  ~Ep() { Ort::GetEpApi().ReleaseEpContextConfig(context_data); }
  void take_nodes(const Ort::ConstGraph& graph, OrtEpGraphSupportInfo* info) const;
  Constant constant_of(const Ort::ConstGraph& unit) const;
  std::string read_context(const Ort::ConstNode& node) const;
  OrtNode* write_context(const Ort::ConstNode& unit, const Constant& constant) const;

  Factory& factory;
  bool writes_contexts, embeds;
  std::string context_file;
  OrtEpContextConfig* context_data = nullptr;
};

struct Factory : OrtEpFactory {
  explicit Factory(const char* called);
  bool compiles() const { return name == kCompiling; }
  Allocator* allocator_of(const OrtMemoryInfo* info) const {
    if (info != static_cast<const OrtMemoryInfo*>(memory)) throw std::runtime_error("the memory is not that of a device of this factory");
    return new Allocator(info);
  }
  void add_kernel();

  const char* name;
  Ort::MemoryInfo memory{"template", OrtMemoryInfoDeviceType_GPU, kVendor, 0, OrtDeviceMemoryType_DEFAULT, 0, OrtDeviceAllocator};
  std::unique_ptr<Ort::KernelRegistry> registry;
};

std::string text_of(const Ort::ConstNode& node, const char* attribute) {
  Ort::ConstOpAttr found;
  std::string text;
  if (!node.GetAttributeByName(attribute, found).IsOK()) return {};
  Ort::ThrowOnError(found.GetValue(text));
  return text;
}

bool is_float(const Ort::ConstValueInfo& value) {
  const auto type = value.TypeInfo();
  return type.GetONNXType() == ONNX_TYPE_TENSOR && type.GetTensorTypeAndShapeInfo().GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}

void Ep::take_nodes(const Ort::ConstGraph& graph, OrtEpGraphSupportInfo* info) const {
  for (const Ort::ConstNode& node : graph.GetNodes()) {
    const bool is_own = node.GetOperatorType() == "EPContext" && text_of(node, "source") == factory.name;
    if (!is_own && !(node.GetOperatorType() == "Mul" && is_float(node.GetInputs()[0]))) continue;
    const OrtNode* taken = node;
    if (!factory.compiles()) {
      Ort::ThrowOnError(Ort::GetEpApi().EpGraphSupportInfo_AddSingleNode(info, taken));
      continue;
    }
    OrtNodeFusionOptions fusion{};
    fusion.ort_version_supported = ORT_API_VERSION;
    fusion.drop_constant_initializers = true;  // the unit keeps them
    Ort::ThrowOnError(Ort::GetEpApi().EpGraphSupportInfo_AddNodesToFuse(info, &taken, 1, &fusion));
  }
}

Constant Ep::constant_of(const Ort::ConstGraph& unit) const {
  const Ort::ConstNode node = unit.GetNodes()[0];
  if (node.GetOperatorType() == "EPContext") return Constant::parse(read_context(node));
  const auto inputs = node.GetInputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    Ort::ConstValue value(nullptr);
    if (!inputs[i].IsConstantInitializer() || !inputs[i].GetInitializer(value).IsOK()) continue;
    const Operand found = operand(value);
    return {static_cast<int>(i), std::vector<float>(found.data, found.data + found.count), found.shape};
  }
  return {};
}

std::string Ep::read_context(const Ort::ConstNode& node) const {
  Ort::ConstOpAttr mode;
  int64_t embedded = 1;
  if (node.GetAttributeByName("embed_mode", mode).IsOK()) Ort::ThrowOnError(mode.GetValue(embedded));
  const std::string content = text_of(node, "ep_cache_context");
  if (embedded) return content;
  OrtReadNamedBufferFunc read = nullptr;
  void* state = nullptr;
  Ort::ThrowOnError(Ort::GetEpApi().EpContextConfig_GetEpContextDataReadFunc(context_data, &read, &state));
  if (read) {
    Ort::AllocatorWithDefaultOptions allocator;
    void* data = nullptr;
    size_t bytes = 0;
    Ort::ThrowOnError(read(state, content.c_str(), allocator, &data, &bytes));
    const std::string text(static_cast<const char*>(data), bytes);
    allocator.Free(data);
    return text;
  }
  const std::string model = node.GetGraph().GetModelPath();
  std::ifstream file(model.substr(0, model.rfind('/') + 1) + content);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

OrtNode* Ep::write_context(const Ort::ConstNode& unit, const Constant& constant) const {
  std::string content = constant.text();
  if (!embeds) {
    const std::string file = unit.GetName() + ".bin";
    OrtWriteNamedBufferFunc write = nullptr;
    void* state = nullptr;
    Ort::ThrowOnError(Ort::GetEpApi().EpContextConfig_GetEpContextDataWriteFunc(context_data, &write, &state));
    if (write) {
      Ort::ThrowOnError(write(state, file.c_str(), content.data(), content.size()));
    } else {
      std::ofstream(context_file.substr(0, context_file.rfind('/') + 1) + file) << content;
    }
    content = file;
  }
  const int64_t mode = embeds, main = 1;
  std::vector<Ort::OpAttr> attributes;
  attributes.emplace_back("ep_cache_context", content.data(), static_cast<int>(content.size()), ORT_OP_ATTR_STRING);
  attributes.emplace_back("embed_mode", &mode, 1, ORT_OP_ATTR_INT);
  attributes.emplace_back("main_context", &main, 1, ORT_OP_ATTR_INT);
  attributes.emplace_back("source", factory.name, static_cast<int>(std::strlen(factory.name)), ORT_OP_ATTR_STRING);
  attributes.emplace_back("partition_name", unit.GetName().data(), static_cast<int>(unit.GetName().size()), ORT_OP_ATTR_STRING);
  std::vector<std::string> inputs, outputs;
  for (const Ort::ConstValueInfo& value : unit.GetInputs()) inputs.push_back(value.GetName());
  for (const Ort::ConstValueInfo& value : unit.GetOutputs()) outputs.push_back(value.GetName());
  return Ort::Node("EPContext", "com.microsoft", unit.GetName(), inputs, outputs, attributes).release();
}

OrtStatus* compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** nodes, size_t count, OrtNodeComputeInfo** infos,
                   OrtNode** contexts) {
  return guarded([&] {
    const Ep& ep = *static_cast<Ep*>(self);
    for (size_t i = 0; i < count; ++i) {
      auto unit = std::make_unique<Unit>(ep.constant_of(Ort::ConstGraph(graphs[i])));
      if (ep.writes_contexts) contexts[i] = ep.write_context(Ort::ConstNode(nodes[i]), unit->constant);
      infos[i] = unit.release();
    }
  });
}

void release_units(OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
  for (size_t i = 0; i < count; ++i) delete static_cast<Unit*>(infos[i]);
}

Ep::Ep(Factory& made_by, Ort::ConstSessionOptions options)
    : OrtEp{},
      factory(made_by),
      writes_contexts(options.GetConfigEntryOrDefault("ep.context_enable", "0") == "1"),
      embeds(options.GetConfigEntryOrDefault("ep.context_embed_mode", "0") == "1"),
      context_file(options.GetConfigEntryOrDefault("ep.context_file_path", "")) {
  ort_version_supported = ORT_API_VERSION;
  Ort::ThrowOnError(Ort::GetEpApi().SessionOptionsGetEpContextConfig(options, &context_data));
  GetName = [](const OrtEp* self) { return static_cast<const Ep*>(self)->factory.name; };
  GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
    return guarded([&] { static_cast<Ep*>(self)->take_nodes(Ort::ConstGraph(graph), info); });
  };
  CreateAllocator = [](OrtEp* self, const OrtMemoryInfo* info, OrtAllocator** out) {
    return guarded([&] { *out = static_cast<Ep*>(self)->factory.allocator_of(info); });
  };
  Sync = [](OrtEp*) -> OrtStatus* { return nullptr; };
  OnSessionInitializationEnd = [](OrtEp*) -> OrtStatus* { return nullptr; };
  OnRunStart = [](OrtEp*, const OrtRunOptions*) -> OrtStatus* { return nullptr; };
  OnRunEnd = [](OrtEp*, const OrtRunOptions*, bool) -> OrtStatus* { return nullptr; };
  if (!factory.compiles()) {
    GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** out) -> OrtStatus* {
      return *out = *static_cast<Ep*>(self)->factory.registry, nullptr;
    };
    return;
  }
  Compile = compile;
  ReleaseNodeComputeInfos = release_units;
  GetCompiledModelCompatibilityInfo = [](OrtEp*, const OrtGraph*) { return kCompatibility; };
  GetWeightlessSupport = [](const OrtEp*, OrtWeightlessSupport* support) -> OrtStatus* {
    return *support = OrtWeightlessSupport_ALL, nullptr;
  };
  GetEpContextDataCallbackSupport = [](const OrtEp*, uint32_t* support) -> OrtStatus* { return *support = 3, nullptr; };
}

void Factory::add_kernel() {
  registry = std::make_unique<Ort::KernelRegistry>();
  Ort::KernelDefBuilder builder;
  builder.SetOperatorType("Mul").SetDomain("").SetSinceVersion(14, 14).SetExecutionProvider(name);
  builder.AddTypeConstraint("T", std::vector<const OrtDataType*>{Ort::GetTensorDataType(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)});
  const auto create = [](void*, const OrtKernelInfo*, OrtKernelImpl** out) -> OrtStatus* { return *out = new Kernel, nullptr; };
  Ort::ThrowOnError(registry->AddKernel(builder.Build(), create, nullptr));
}

Factory::Factory(const char* called) : OrtEpFactory{}, name(called) {
  ort_version_supported = ORT_API_VERSION;
  GetName = [](const OrtEpFactory* self) { return static_cast<const Factory*>(self)->name; };
  GetVendor = [](const OrtEpFactory*) { return "Template"; };
  GetVendorId = [](const OrtEpFactory*) { return kVendor; };
  GetVersion = [](const OrtEpFactory*) { return "1.0.0"; };
  GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* hardware, size_t count, OrtEpDevice** out, size_t room,
                           size_t* used) {
    return guarded([&] {
      *used = 0;
      for (size_t i = 0; i < count && *used == 0 && room > 0; ++i) {
        Ort::ConstHardwareDevice on(hardware[i]);
        if (on.Type() != OrtHardwareDeviceType_CPU) continue;
        Ort::EpDevice device(*self, on);
        Ort::ThrowOnError(Ort::GetEpApi().EpDevice_AddAllocatorInfo(device, static_cast<Factory*>(self)->memory));
        out[(*used)++] = device.release();
      }
    });
  };
  CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                const OrtSessionOptions* options, const OrtLogger*,
                OrtEp** out) { return guarded([&] { *out = new Ep(*static_cast<Factory*>(self), Ort::ConstSessionOptions(options)); }); };
  ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<Ep*>(ep); };
  CreateAllocator = [](OrtEpFactory* self, const OrtMemoryInfo* info, const OrtKeyValuePairs*, OrtAllocator** out) {
    return guarded([&] { *out = static_cast<Factory*>(self)->allocator_of(info); });
  };
  ReleaseAllocator = [](OrtEpFactory*, OrtAllocator* allocator) { delete static_cast<Allocator*>(allocator); };
  CreateDataTransfer = [](OrtEpFactory* self, OrtDataTransferImpl** out) {
    return guarded([&] { *out = new Transfer(static_cast<Factory*>(self)->memory); });
  };
  IsStreamAware = [](const OrtEpFactory*) { return false; };
  ValidateCompiledModelCompatibilityInfo = [](OrtEpFactory*, const OrtHardwareDevice* const*, size_t, const char* info,
                                              OrtCompiledModelCompatibility* found) -> OrtStatus* {
    *found = std::strcmp(info, kCompatibility) == 0 ? OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL
                                                    : OrtCompiledModelCompatibility_EP_UNSUPPORTED;
    return nullptr;
  };
  if (!compiles()) add_kernel();
}

}  // namespace

extern "C" {
ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                                     size_t room, size_t* count) {
  Ort::InitApi(base->GetApi(ORT_API_VERSION));
  return guarded([&] {
    if (room < 2) throw std::runtime_error("there are two factories");
    factories[0] = new Factory(kCompiling);
    factories[1] = new Factory(kKernels);
    *count = 2;
  });
}

ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}
}
