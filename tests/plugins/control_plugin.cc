// A device whose memory the host cannot read, with kernels for If, Loop and Scan that the host makes, and Add and Mul on float tensors of
// equal shape for what is inside.
#include "../../src/providers/fake_device/addresses.h"
#include "kit.h"

namespace {

using namespace rh::test::kit;
using rh::fake_device::to_device;
using rh::fake_device::to_host;

constexpr char kName[] = "ControlExecutionProvider";

struct Memory final : IAllocator {
  void* alloc(size_t bytes) override {
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    return memory ? to_device(memory) : nullptr;
  }
  void free(void* memory) override { std::free(to_host(memory)); }
};

struct Transfer final : IDataTransfer {
  void copy(const TensorView& from, bool, const TensorView& to, bool, void*) override {
    std::memmove(to_host(to.data), to_host(from.data), from.bytes);
  }
};

struct LoopHelper : OrtLoopKernelHelper {
  LoopHelper() : OrtLoopKernelHelper{} {
    ort_version_supported = detail::host.version;
    Release = [](OrtLoopKernelHelper* self) { delete static_cast<LoopHelper*>(self); };
    ConcatOutput = [](OrtLoopKernelHelper*, void*, const OrtValue* const* pieces, size_t count, void* output, size_t bytes) {
      return detail::guard([&] {
        auto* to = static_cast<char*>(to_host(output));
        size_t at = 0;
        for (size_t i = 0; i < count; ++i) {
          const TensorView piece = view_of(pieces[i]);
          if (at + piece.bytes > bytes) throw std::runtime_error("the pieces are larger than the output");
          std::memcpy(to + at, to_host(piece.data), piece.bytes);
          at += piece.bytes;
        }
      });
    };
  }
};

struct ScanHelper : OrtScanKernelHelper {
  ScanHelper() : OrtScanKernelHelper{} {
    ort_version_supported = detail::host.version;
    Release = [](OrtScanKernelHelper* self) { delete static_cast<ScanHelper*>(self); };
    Transpose = [](OrtScanKernelHelper*, const size_t* order, size_t rank, const OrtValue* input, OrtSyncStream*, OrtValue* output) {
      return detail::guard([&] {
        const TensorView x = view_of(input), y = view_of(output);
        const auto* from = static_cast<const float*>(to_host(x.data));
        auto* to = static_cast<float*>(to_host(y.data));
        for (int64_t i = 0; i < y.elements(); ++i) {
          std::vector<int64_t> at(rank);
          int64_t rest = i, source = 0;
          for (size_t k = rank; k-- > 0; rest /= y.shape[k]) at[order[k]] = rest % y.shape[k];
          for (size_t k = 0; k < rank; ++k) source = source * x.shape[k] + at[k];
          to[i] = from[source];
        }
      });
    };
  }
};

void combine(const std::string& op, OpKernelContext& context) {
  const TensorView a = context.input(0), b = context.input(1);
  const TensorView out = context.output(0, a.shape);
  const auto *x = static_cast<const float*>(to_host(a.data)), *y = static_cast<const float*>(to_host(b.data));
  auto* to = static_cast<float*>(to_host(out.data));
  for (int64_t i = 0; i < out.elements(); ++i) to[i] = op == "Add" ? x[i] + y[i] : x[i] * y[i];
}

/// A kernel that the host makes.
OrtStatus* ORT_API_CALL make_control_flow(void* state, const OrtKernelInfo* info, OrtKernelImpl** out) {
  const std::string op = static_cast<const char*>(state);
  if (op == "If") return detail::host.ep->CreateIfKernel(info, out);
  if (op == "Loop") return detail::host.ep->CreateLoopKernel(info, new LoopHelper, out);
  return detail::host.ep->CreateScanKernel(info, new ScanHelper, out);
}

void add_control_flow(OrtKernelRegistry* registry, const char* op, int start, int end, std::vector<size_t> host_inputs) {
  const OrtEpApi& ep = *detail::host.ep;
  OrtKernelDefBuilder* builder = nullptr;
  detail::check(ep.CreateKernelDefBuilder(&builder));
  detail::check(ep.KernelDefBuilder_SetOperatorType(builder, op));
  detail::check(ep.KernelDefBuilder_SetDomain(builder, ""));
  detail::check(ep.KernelDefBuilder_SetSinceVersion(builder, start, end));
  detail::check(ep.KernelDefBuilder_SetExecutionProvider(builder, kName));
  for (size_t input : host_inputs) detail::check(ep.KernelDefBuilder_SetInputMemType(builder, input, OrtMemTypeCPUInput));
  OrtKernelDef* def = nullptr;
  detail::check(ep.KernelDefBuilder_Build(builder, &def));
  detail::check(ep.KernelRegistry_AddKernel(registry, def, make_control_flow, const_cast<char*>(op)));
  ep.ReleaseKernelDef(def);
  ep.ReleaseKernelDefBuilder(builder);
}

struct Control final : IExecutionProvider {
  explicit Control(const OrtSessionOptions*) {}
  std::shared_ptr<KernelRegistry> GetKernelRegistry() const override {
    auto registry = std::make_shared<KernelRegistry>();
    for (const char* op : {"Add", "Mul"}) {
      registry->add({op, "", 7, 14, {{"T", {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT}}}, [op = std::string(op)](const OrtKernelInfo*) {
                       return [op](OpKernelContext& context) { combine(op, context); };
                     }});
    }
    return registry;
  }
};

struct ControlEp : detail::EpTable<Control> {
  ControlEp(const char* name, const OrtSessionOptions* options) : EpTable(name, options) {
    add_control_flow(registry, "If", 13, 22, {0});
    add_control_flow(registry, "Loop", 13, 22, {0, 1});
    add_control_flow(registry, "Scan", 8, 8, {0});
    add_control_flow(registry, "Scan", 11, 22, {});
  }
};

struct ControlTraits : ProviderTraits {
  static constexpr uint32_t kVendorId = 0xc0de;
  static DeviceMemory memory() { return {"ControlDevice", kVendorId, 0}; }
  static std::unique_ptr<IAllocator> create_allocator() { return std::make_unique<Memory>(); }
  static std::unique_ptr<IDataTransfer> GetDataTransfer() { return std::make_unique<Transfer>(); }
};

using ControlFactory = TestFactory<ControlEp, ControlTraits>;

}  // namespace

RH_EXPORT_TEST_PLUGIN(ControlFactory, kName)
