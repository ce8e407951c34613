// A kit for writing an execution provider as a plugin: derive from IExecutionProvider, export it with ROUNDHOUSE_EXPORT_PROVIDER, and build
// a shared library from nothing but the headers beside this one. The library loads into Roundhouse and into ONNX Runtime 1.23 or newer.
// Errors are exceptions; none crosses the boundary.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "onnxruntime_ep_c_api.h"
#include "roundhouse_ep_c_api.h"

namespace roundhouse::ep {

namespace detail {

/// The host's tables, and the version that both sides know.
struct Host {
  const OrtApiBase* base = nullptr;
  const OrtApi* api = nullptr;
  const OrtEpApi* ep = nullptr;
  uint32_t version = 0;
  int factories = 0;  ///< that it has of this library
};
inline Host host;

struct Refusals;

inline void check(OrtStatus* status) {
  if (!status) return;
  const std::string message = host.api->GetErrorMessage(status);
  host.api->ReleaseStatus(status);
  throw std::runtime_error(message);
}

/// Runs what a table entry does; what it throws becomes its status.
template <typename Body>
OrtStatus* guard(Body&& body) {
  try {
    body();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return host.api->CreateStatus(ORT_EP_FAIL, "out of memory");
  } catch (const std::exception& error) {
    return host.api->CreateStatus(ORT_EP_FAIL, error.what());
  } catch (...) {
    return host.api->CreateStatus(ORT_EP_FAIL, "unknown exception");
  }
}

}  // namespace detail

/// A tensor in a kernel's inputs or outputs. The memory is the device's where the provider has one.
struct TensorView {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  std::vector<int64_t> shape;
  void* data = nullptr;
  size_t bytes = 0;

  int64_t elements() const {
    int64_t count = 1;
    for (const int64_t dim : shape) count *= dim;
    return count;
  }
};

inline TensorView view_of(const OrtValue* value) {
  const OrtApi& api = *detail::host.api;
  TensorView view;
  OrtTensorTypeAndShapeInfo* info = nullptr;
  detail::check(api.GetTensorTypeAndShape(value, &info));
  const std::unique_ptr<OrtTensorTypeAndShapeInfo, void (*)(OrtTensorTypeAndShapeInfo*)> owner(info, api.ReleaseTensorTypeAndShapeInfo);
  size_t rank = 0;
  detail::check(api.GetTensorElementType(info, &view.type));
  detail::check(api.GetDimensionsCount(info, &rank));
  view.shape.resize(rank);
  detail::check(api.GetDimensions(info, view.shape.data(), rank));
  detail::check(api.GetTensorMutableData(const_cast<OrtValue*>(value), &view.data));
  detail::check(api.GetTensorSizeInBytes(value, &view.bytes));
  return view;
}

/// A value of the graph.
class NodeArg {
 public:
  explicit NodeArg(const OrtValueInfo* info) : info_(info) {}
  bool exists() const { return info_ != nullptr; }
  std::string name() const {
    const char* text = nullptr;
    detail::check(detail::host.api->GetValueInfoName(info_, &text));
    return text;
  }
  /// Undefined where it is no tensor or its type is not known.
  ONNXTensorElementDataType element_type() const {
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    if (const auto* info = tensor_info()) detail::check(detail::host.api->GetTensorElementType(info, &type));
    return type;
  }
  /// -1 where a dimension is known only when the model runs; false where even the rank is not known, as a scalar's is in hosts before 1.24.
  bool shape(std::vector<int64_t>& dims) const {
    const auto* info = tensor_info();
    if (!info) return false;
    size_t rank = 0;
    detail::check(detail::host.api->GetDimensionsCount(info, &rank));
    if (rank == 0 && (detail::host.version < 24 || !detail::host.api->TensorTypeAndShape_HasShape(info))) return false;
    dims.resize(rank);
    detail::check(detail::host.api->GetDimensions(info, dims.data(), rank));
    return true;
  }
  /// The value of a constant initializer; null for other values.
  const OrtValue* constant() const {
    bool is_constant = false;
    const OrtValue* value = nullptr;
    detail::check(detail::host.api->ValueInfo_IsConstantInitializer(info_, &is_constant));
    if (is_constant) detail::check(detail::host.api->ValueInfo_GetInitializerValue(info_, &value));
    return value;
  }
  const OrtValueInfo* raw() const { return info_; }

 private:
  const OrtTensorTypeAndShapeInfo* tensor_info() const {
    const OrtTypeInfo* type = nullptr;
    const OrtTensorTypeAndShapeInfo* info = nullptr;
    if (!info_) return nullptr;
    detail::check(detail::host.api->GetValueInfoTypeInfo(info_, &type));
    if (type) detail::check(detail::host.api->CastTypeInfoToTensorInfo(type, &info));
    return info;
  }
  const OrtValueInfo* info_;
};

/// A node of the graph.
class Node {
 public:
  explicit Node(const OrtNode* node) : node_(node) {}
  std::string name() const { return text(detail::host.api->Node_GetName); }
  std::string op_type() const { return text(detail::host.api->Node_GetOperatorType); }
  std::string domain() const { return text(detail::host.api->Node_GetDomain); }
  int since_version() const {
    int version = 0;
    detail::check(detail::host.api->Node_GetSinceVersion(node_, &version));
    return version;
  }
  std::vector<NodeArg> inputs() const { return values(detail::host.api->Node_GetNumInputs, detail::host.api->Node_GetInputs); }
  std::vector<NodeArg> outputs() const { return values(detail::host.api->Node_GetNumOutputs, detail::host.api->Node_GetOutputs); }
  /// By which hosts know the node.
  size_t id() const {
    size_t number = 0;
    detail::check(detail::host.api->Node_GetId(node_, &number));
    return number;
  }
  const OrtNode* raw() const { return node_; }

 private:
  template <typename Get>
  std::string text(Get get) const {
    const char* result = nullptr;
    detail::check(get(node_, &result));
    return result ? result : "";
  }
  template <typename Count, typename Get>
  std::vector<NodeArg> values(Count count, Get get) const {
    size_t number = 0;
    detail::check(count(node_, &number));
    std::vector<const OrtValueInfo*> infos(number);
    detail::check(get(node_, infos.data(), number));
    std::vector<NodeArg> result;
    for (const OrtValueInfo* info : infos) result.emplace_back(info);
    return result;
  }
  const OrtNode* node_;
};

/// The graph that a provider is asked about, or has to compile.
class GraphViewer {
 public:
  explicit GraphViewer(const OrtGraph* graph) : graph_(graph) {}
  /// Each after those that it depends on.
  std::vector<Node> nodes() const {
    size_t count = 0;
    detail::check(detail::host.api->Graph_GetNumNodes(graph_, &count));
    std::vector<const OrtNode*> raw(count);
    detail::check(detail::host.api->Graph_GetNodes(graph_, raw.data(), count));
    std::vector<Node> result;
    for (const OrtNode* node : raw) result.emplace_back(node);
    return result;
  }
  const OrtGraph* raw() const { return graph_; }

 private:
  const OrtGraph* graph_;
};

/// Nodes that a provider takes: one for a kernel of its registry, or some to compile into one.
struct ComputeCapability {
  explicit ComputeCapability(const Node& node, bool compiled = false) : nodes{node}, fuse(compiled) {}
  explicit ComputeCapability(std::vector<Node> taken, bool compiled = false) : nodes(std::move(taken)), fuse(compiled) {}

  std::vector<Node> nodes;
  bool fuse = false;
};

/// Which nodes the provider's own kernel registry has kernels for.
class IKernelLookup {
 public:
  explicit IKernelLookup(OrtEpGraphSupportInfo* info) : info_(info) {}
  bool has_kernel(const Node& node) const {
    if (detail::host.version < 24) return false;
    const OrtKernelDef* def = nullptr;
    detail::check(detail::host.ep->EpGraphSupportInfo_LookUpKernel(info_, node.raw(), &def));
    return def != nullptr;
  }

 private:
  OrtEpGraphSupportInfo* info_;
};

/// One call of a kernel.
class OpKernelContext {
 public:
  explicit OpKernelContext(OrtKernelContext* context) : context_(context) {}
  size_t input_count() const {
    size_t count = 0;
    detail::check(detail::host.api->KernelContext_GetInputCount(context_, &count));
    return count;
  }
  TensorView input(size_t index) const {
    const OrtValue* value = nullptr;
    detail::check(detail::host.api->KernelContext_GetInput(context_, index, &value));
    if (!value) throw std::runtime_error("an input that the kernel needs is left out");
    return view_of(value);
  }
  TensorView output(size_t index, const std::vector<int64_t>& shape) const {
    OrtValue* value = nullptr;
    detail::check(detail::host.api->KernelContext_GetOutput(context_, index, shape.data(), shape.size(), &value));
    if (!value) throw std::runtime_error("an output that the kernel gives is left out");
    return view_of(value);
  }
  /// What the provider's stream gave as its handle; null without one.
  void* stream() const {
    void* handle = nullptr;
    detail::check(detail::host.api->KernelContext_GetGPUComputeStream(context_, &handle));
    return handle;
  }

 private:
  OrtKernelContext* context_;
};

using KernelFunction = std::function<void(OpKernelContext&)>;
/// Makes the function of one node; attributes are read through the C API from the info.
using KernelFactory = std::function<KernelFunction(const OrtKernelInfo*)>;

/// The kernels of a provider.
class KernelRegistry {
 public:
  struct Entry {
    std::string op_type, domain;
    int since_start, since_end;
    std::vector<std::pair<std::string, std::vector<ONNXTensorElementDataType>>> types;  ///< by type parameter: "T"
    KernelFactory make;
  };
  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// A compiled unit.
struct NodeComputeInfo {
  KernelFunction compute;
};

/// A piece of work that others can wait for.
class INotification {
 public:
  virtual ~INotification() = default;
  virtual void activate() = 0;
  virtual void wait_on_host() = 0;
  virtual void wait_on_stream(void* stream_handle) = 0;
};

/// Work of a device beside the host's.
class IStream {
 public:
  virtual ~IStream() = default;
  virtual void* handle() = 0;
  virtual std::unique_ptr<INotification> create_notification() = 0;
  virtual void flush() {}
  virtual void end_run() {}
};

/// Copies between the host and the provider's device, or within it.
class IDataTransfer {
 public:
  virtual ~IDataTransfer() = default;
  /// `stream_handle` is null where the copy must be done when the call returns.
  virtual void copy(const TensorView& from, bool from_device, const TensorView& to, bool to_device, void* stream_handle) = 0;
};

/// Gives memory of the provider's device; thread-safe.
class IAllocator {
 public:
  virtual ~IAllocator() = default;
  virtual void* alloc(size_t bytes) = 0;  ///< null where there is none
  virtual void free(void* memory) = 0;
};

/// Where the tensors of a provider lie: in memory of the host unless it is said otherwise.
struct OrtDevice {
  using DeviceType = int8_t;
  using MemoryType = int8_t;
  using VendorId = uint32_t;
  using DeviceId = int16_t;
  static constexpr DeviceType CPU = 0, GPU = 1, NPU = 3;
  struct MemType {
    static constexpr MemoryType DEFAULT = 0;
  };
  struct VendorIds {
    static constexpr VendorId NONE = 0, AMD = 0x1002, NVIDIA = 0x10de, ARM = 0x13b5, QUALCOMM = 0x5143, INTEL = 0x8086;
  };

  constexpr OrtDevice() = default;
  constexpr OrtDevice(DeviceType type, MemoryType, DeviceId id) : type_(type), id_(id) {}
  constexpr OrtDevice(DeviceType type, MemoryType, VendorId vendor, DeviceId id) : type_(type), id_(id), vendor_(vendor) {}

  constexpr DeviceType Type() const { return type_; }
  constexpr DeviceId Id() const { return id_; }
  constexpr VendorId Vendor() const { return vendor_; }

 private:
  DeviceType type_ = CPU;
  DeviceId id_ = 0;
  VendorId vendor_ = VendorIds::NONE;
};

/// The memory that a provider has of its own.
struct DeviceMemory {
  std::string name;  ///< "FakeDevice"; empty: the provider works on host memory
  uint32_t vendor_id = 0;
  int32_t device_id = 0;
  OrtMemoryInfoDeviceType type = OrtMemoryInfoDeviceType_GPU;
};

/// A processor, GPU or NPU: one that the host found, or one that a provider knows of.
struct HardwareDevice {
  OrtHardwareDeviceType type = OrtHardwareDeviceType_CPU;
  uint32_t vendor_id = 0, device_id = 0;  ///< PCI numbers
  std::string vendor;
  std::map<std::string, std::string> metadata = {};  ///< "pci_bus_id", "Discrete", ...
  const OrtHardwareDevice* raw = nullptr;            ///< null: the host is told of it, if it is of version 24 or newer
};

/// A device that a provider offers to sessions: hardware, and what programs read of it (OrtEpDevice).
struct ProviderDevice {
  HardwareDevice hardware;
  std::map<std::string, std::string> metadata = {}, options = {};  ///< options: those of sessions that do not say otherwise
};

/// The processor stands for the device: the host need not have found one.
inline std::vector<ProviderDevice> processor_alone(const std::vector<HardwareDevice>& found) {
  for (const HardwareDevice& hardware : found) {
    if (hardware.type == OrtHardwareDeviceType_CPU) return {{hardware}};
  }
  return {};
}

/// What a provider is; one is made for each session.
class IExecutionProvider {
 public:
  IExecutionProvider() = default;
  /// `type` is what sessions ask for ("MyExecutionProvider"); tensors of its kernels lie in `device`.
  explicit IExecutionProvider(std::string type, OrtDevice device = {}) : type_(std::move(type)), device_(device) {}
  virtual ~IExecutionProvider() = default;
  const std::string& Type() const { return type_; }
  const OrtDevice& GetDevice() const { return device_; }

  /// The nodes that it takes; by default those that its registry has kernels for.
  virtual std::vector<std::unique_ptr<ComputeCapability>> GetCapability(const GraphViewer& graph_viewer,
                                                                        const IKernelLookup& kernel_lookup) const {
    std::vector<std::unique_ptr<ComputeCapability>> taken;
    for (const Node& node : graph_viewer.nodes()) {
      if (kernel_lookup.has_kernel(node)) taken.push_back(std::make_unique<ComputeCapability>(node));
    }
    return taken;
  }
  /// Null where it has no kernels for single nodes. Where it has memory of its own, kernels that copy to and from it are added.
  virtual std::shared_ptr<KernelRegistry> GetKernelRegistry() const { return nullptr; }
  /// Needed where its device is not the host.
  virtual std::unique_ptr<IDataTransfer> GetDataTransfer() const { return nullptr; }
  /// Memory of its device; needed where that is not the host.
  virtual std::unique_ptr<IAllocator> CreateAllocator() const { return nullptr; }
  /// The devices that it offers, out of `found` or its own; by default the processor stands for the device.
  virtual std::vector<ProviderDevice> GetDevices(const std::vector<HardwareDevice>& found) const { return processor_alone(found); }
  /// A fused unit. `inputs` and `outputs` of the kernel go with those of `node`.
  virtual NodeComputeInfo Compile(const GraphViewer& graph, const Node& node) {
    (void)graph, (void)node;
    throw std::runtime_error("the provider compiles nothing");
  }
  virtual std::unique_ptr<IStream> CreateStream() { return nullptr; }

 protected:
  /// In GetCapability: why it leaves a node to others, which Roundhouse tells (`placement()`, `roundhouse explain`). `reason` is a
  /// sentence.
  void refuse(const Node& node, RhRefusalCode code, std::string reason) const {
    refusals_.emplace_back(node.id(), code, std::move(reason));
  }

 private:
  friend struct detail::Refusals;
  std::string type_;
  OrtDevice device_;
  mutable std::deque<std::tuple<size_t, RhRefusalCode, std::string>> refusals_;
};

/// What a library says of its provider before any session has one. Derive from it, or from TraitsOf, to say more than that.
struct ProviderTraits {
  static constexpr const char* kVendor = "unknown";
  static constexpr uint32_t kVendorId = 0;
  static constexpr const char* kVersion = "1.0.0";
  static constexpr bool kStreams = false;
  static DeviceMemory memory() { return {}; }
  static std::unique_ptr<IAllocator> create_allocator() { return nullptr; }
  static std::unique_ptr<IDataTransfer> GetDataTransfer() { return nullptr; }
  static std::vector<ProviderDevice> devices(const std::vector<HardwareDevice>& found) { return processor_alone(found); }
  /// What was not given back when the library goes, for the host's log; empty: nothing.
  static std::string leaks() { return {}; }
  /// Memory of the host that the device reaches as well, for callers; needed where kHostMemory is true.
  static constexpr bool kHostMemory = false;
  static std::unique_ptr<IAllocator> create_host_allocator() { return nullptr; }
  /// For callers that copy on a stream of their own; needed where kStreams is true.
  static std::unique_ptr<IStream> create_stream() { return nullptr; }
};

/// Traits of a provider that says all of itself, and is made without arguments: what one that no session has answers.
template <typename Class>
struct TraitsOf : ProviderTraits {
  static const Class& provider() {
    static const Class made;
    return made;
  }
  static DeviceMemory memory() {
    const OrtDevice& device = provider().GetDevice();
    if (device.Type() == OrtDevice::CPU) return {};
    return {provider().Type(), device.Vendor(), device.Id(), static_cast<OrtMemoryInfoDeviceType>(device.Type())};
  }
  static std::unique_ptr<IAllocator> create_allocator() { return provider().CreateAllocator(); }
  static std::unique_ptr<IDataTransfer> GetDataTransfer() { return provider().GetDataTransfer(); }
  static std::vector<ProviderDevice> devices(const std::vector<HardwareDevice>& found) { return provider().GetDevices(found); }
};

}  // namespace roundhouse::ep

#include "provider_impl.hpp"

#define ROUNDHOUSE_EXPORT_PROVIDER_AS(Class, Traits, name)                                                                                \
  extern "C" {                                                                                                                            \
  ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,   \
                                                       size_t room, size_t* count) {                                                      \
    return ::roundhouse::ep::detail::create_factories<Class, Traits>([]() -> const char* { return name; }, base, factories, room, count); \
  }                                                                                                                                       \
  ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {                                                            \
    return ::roundhouse::ep::detail::release_factory<Class, Traits>(factory);                                                             \
  }                                                                                                                                       \
  ORT_EXPORT OrtStatus* ORT_API_CALL RhEpGetRefusals(const OrtEp* ep, const RhEpRefusal** refusals, size_t* count) {                      \
    return ::roundhouse::ep::detail::get_refusals<Class>(ep, refusals, count);                                                            \
  }                                                                                                                                       \
  }
#define ROUNDHOUSE_EXPORT_PROVIDER_ALONE(Class) ROUNDHOUSE_EXPORT_PROVIDER_WITH(Class, ::roundhouse::ep::TraitsOf<Class>)
#define ROUNDHOUSE_EXPORT_PROVIDER_WITH(Class, Traits) ROUNDHOUSE_EXPORT_PROVIDER_AS(Class, Traits, (Traits::provider().Type().c_str()))
#define ROUNDHOUSE_EXPORT_PROVIDER_CHOICE(a, b, c, Chosen, ...) Chosen

/// Exports a provider: `Class` derives from IExecutionProvider and is made without arguments, or from an `const OrtSessionOptions*`.
///   ROUNDHOUSE_EXPORT_PROVIDER(Class)                  one that says all of itself
///   ROUNDHOUSE_EXPORT_PROVIDER(Class, Traits)          `Traits` derives from TraitsOf<Class>
///   ROUNDHOUSE_EXPORT_PROVIDER(Class, Traits, name)    `Traits` is or derives from ProviderTraits; `name` is what sessions ask for
#define ROUNDHOUSE_EXPORT_PROVIDER(...)                                                                          \
  ROUNDHOUSE_EXPORT_PROVIDER_CHOICE(__VA_ARGS__, ROUNDHOUSE_EXPORT_PROVIDER_AS, ROUNDHOUSE_EXPORT_PROVIDER_WITH, \
                                    ROUNDHOUSE_EXPORT_PROVIDER_ALONE, )                                          \
  (__VA_ARGS__)
