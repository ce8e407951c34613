// A provider that records the second run of a number and replays it, on host memory: Add and Relu on float tensors of equal shape. Its
// importer takes blocks of the host's memory for external ones.
#include <map>
#include <set>

#include "kit.h"

namespace {

using namespace rh::test::kit;

constexpr char kName[] = "CaptureExecutionProvider";

int g_computed = 0, g_replayed = 0;

struct Piece {
  bool add;
  const float *x, *y;
  float* to;
  int64_t count;
  void run() const {
    for (int64_t i = 0; i < count; ++i) to[i] = add ? x[i] + y[i] : std::max(x[i], 0.0f);
  }
};

struct Capture final : IExecutionProvider {
  explicit Capture(const OrtSessionOptions* options) : enabled(config(options, "ep.captureexecutionprovider.enable") == "1") {}
  std::shared_ptr<KernelRegistry> GetKernelRegistry() const override {
    auto registry = std::make_shared<KernelRegistry>();
    for (const bool add : {true, false}) {
      registry->add(
          {add ? "Add" : "Relu", "", add ? 7 : 6, 14, {{"T", {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT}}}, [this, add](const OrtKernelInfo*) {
             return [this, add](OpKernelContext& context) {
               const TensorView a = context.input(0), b = add ? context.input(1) : a;
               const TensorView out = context.output(0, a.shape);
               const Piece piece{add, static_cast<const float*>(a.data), static_cast<const float*>(b.data), static_cast<float*>(out.data),
                                 out.elements()};
               piece.run();
               ++g_computed;
               if (recording) recording->push_back(piece);
             };
           }});
    }
    return registry;
  }

  bool enabled;
  std::map<int, int> runs;
  std::map<int, std::vector<Piece>> recorded;
  std::set<int> done;
  std::vector<Piece>* recording = nullptr;
};

int number_of(const OrtRunOptions* options) {
  const char* text = detail::host.api->GetRunConfigEntry(options, "gpu_graph_id");
  return text ? std::atoi(text) : 0;
}

struct CaptureEp : detail::EpTable<Capture> {
  CaptureEp(const char* name, const OrtSessionOptions* options) : EpTable(name, options) {
    OnRunStart = [](OrtEp* self, const OrtRunOptions* options) -> OrtStatus* {
      Capture& capture = of(self);
      const int number = number_of(options);
      if (number < 0 || ++capture.runs[number] < 2) return nullptr;
      capture.recorded[number].clear();
      capture.recording = &capture.recorded[number];
      return nullptr;
    };
    OnRunEnd = [](OrtEp* self, const OrtRunOptions* options, bool) -> OrtStatus* {
      Capture& capture = of(self);
      if (capture.recording) capture.done.insert(number_of(options));
      capture.recording = nullptr;
      return nullptr;
    };
    IsGraphCaptureEnabled = [](const OrtEp* self) { return static_cast<const CaptureEp*>(self)->provider.enabled; };
    IsGraphCaptured = [](const OrtEp* self, int number) { return static_cast<const CaptureEp*>(self)->provider.done.contains(number); };
    ReplayGraph = [](OrtEp* self, int number) -> OrtStatus* {
      for (const Piece& piece : of(self).recorded.at(number)) piece.run();
      ++g_replayed;
      return nullptr;
    };
    ReleaseCapturedGraph = [](OrtEp* self, int number) -> OrtStatus* {
      of(self).done.erase(number);
      of(self).runs.erase(number);
      return nullptr;
    };
    GetGraphCaptureNodeAssignmentPolicy = [](const OrtEp*) { return OrtGraphCaptureNodeAssignmentPolicy_ALL_NODES_ON_EP; };
  }
  static Capture& of(OrtEp* self) { return static_cast<CaptureEp*>(self)->provider; }
};

struct MemoryHandle : OrtExternalMemoryHandle {};

struct Importer : OrtExternalResourceImporterImpl {
  explicit Importer(const OrtEpDevice* owner) : OrtExternalResourceImporterImpl{}, device(owner) {
    ort_version_supported = detail::host.version;
    Release = [](OrtExternalResourceImporterImpl* self) { delete static_cast<Importer*>(self); };
    CanImportMemory = [](const OrtExternalResourceImporterImpl*, OrtExternalMemoryHandleType type) {
      return type == ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD;
    };
    ImportMemory = [](OrtExternalResourceImporterImpl* self, const OrtExternalMemoryDescriptor* descriptor,
                      OrtExternalMemoryHandle** out) -> OrtStatus* {
      auto* handle = new MemoryHandle{};
      handle->version = detail::host.version;
      handle->ep_device = static_cast<Importer*>(self)->device;
      handle->descriptor = *descriptor;
      handle->Release = [](OrtExternalMemoryHandle* given) { delete static_cast<MemoryHandle*>(given); };
      *out = handle;
      return nullptr;
    };
    ReleaseMemory = [](OrtExternalResourceImporterImpl*, OrtExternalMemoryHandle* handle) { delete static_cast<MemoryHandle*>(handle); };
    CreateTensorFromMemory = [](OrtExternalResourceImporterImpl*, const OrtExternalMemoryHandle* handle,
                                const OrtExternalTensorDescriptor* tensor, OrtValue** out) -> OrtStatus* {
      OrtMemoryInfo* info = nullptr;
      if (OrtStatus* status = detail::host.api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &info)) return status;
      const size_t offset = handle->descriptor.offset_bytes + tensor->offset_bytes;
      OrtStatus* status = detail::host.api->CreateTensorWithDataAsOrtValue(
          info, static_cast<char*>(handle->descriptor.native_handle) + offset, handle->descriptor.size_bytes - offset, tensor->shape,
          tensor->rank, tensor->element_type, out);
      detail::host.api->ReleaseMemoryInfo(info);
      return status;
    };
    CanImportSemaphore = [](const OrtExternalResourceImporterImpl*, OrtExternalSemaphoreType) { return false; };
    ImportSemaphore = [](OrtExternalResourceImporterImpl*, const OrtExternalSemaphoreDescriptor*, OrtExternalSemaphoreHandle**) {
      return detail::host.api->CreateStatus(ORT_NOT_IMPLEMENTED, "no semaphores");
    };
  }
  const OrtEpDevice* device;
};

struct CaptureFactory : TestFactory<CaptureEp, ProviderTraits> {
  explicit CaptureFactory(const char* name) : TestFactory(name) {
    CreateExternalResourceImporterForDevice = [](OrtEpFactory*, const OrtEpDevice* device, OrtExternalResourceImporterImpl** out) {
      return detail::guard([&] { *out = new Importer(device); });
    };
  }
};

}  // namespace

RH_EXPORT_TEST_PLUGIN(CaptureFactory, kName)

/// How often a kernel computed, and a recording was replayed.
extern "C" ORT_EXPORT void rh_test_capture_counts(int* computed, int* replayed) {
  *computed = g_computed;
  *replayed = g_replayed;
}
