// A provider whose Mul kernel packs its constant operand, and shares what it packed where the host offers to.
#include "kit.h"

namespace {

using namespace rh::test::kit;

constexpr char kName[] = "PrepackExecutionProvider";

const float* g_last = nullptr;

/// y = x * w, with w doubled ahead and halved again as it is used.
struct Kernel : OrtKernelImpl {
  Kernel() : OrtKernelImpl{} {
    ort_version_supported = detail::host.version;
    Release = [](OrtKernelImpl* self) { delete static_cast<Kernel*>(self); };
    Compute = [](OrtKernelImpl* self, OrtKernelContext* raw) {
      return detail::guard([&] { static_cast<Kernel*>(self)->run(OpKernelContext(raw)); });
    };
    PrePackWeight = [](OrtKernelImpl* self, const OrtValue* tensor, int input, OrtAllocator* allocator,
                       OrtSharedPrePackedWeightCache* cache, bool* is_packed) {
      return detail::guard([&] { *is_packed = input == 1 && static_cast<Kernel*>(self)->pack(view_of(tensor), allocator, cache); });
    };
    SetSharedPrePackedWeight = [](OrtKernelImpl* self, const void* const* data, const size_t*, size_t, int) -> OrtStatus* {
      g_last = static_cast<Kernel*>(self)->packed = static_cast<const float*>(data[0]);
      return nullptr;
    };
  }

  bool pack(const TensorView& w, OrtAllocator* allocator, OrtSharedPrePackedWeightCache* cache) {
    own.resize(static_cast<size_t>(w.elements()));
    for (size_t i = 0; i < own.size(); ++i) own[i] = 2 * static_cast<const float*>(w.data)[i];
    packed = own.data();
    if (!cache) return true;
    void* buffer = allocator->Alloc(allocator, w.bytes);
    size_t bytes = w.bytes;
    std::memcpy(buffer, own.data(), bytes);
    own.clear();
    packed = nullptr;
    detail::check(detail::host.ep->SharedPrePackedWeightCache_StoreWeightData(cache, &buffer, &bytes, 1));
    return true;
  }

  void run(OpKernelContext context) const {
    const TensorView x = context.input(0);
    const TensorView y = context.output(0, x.shape);
    for (int64_t i = 0; i < y.elements(); ++i) static_cast<float*>(y.data)[i] = static_cast<const float*>(x.data)[i] * packed[i] / 2;
  }

  std::vector<float> own;
  const float* packed = nullptr;
};

struct Prepack final : IExecutionProvider {
  explicit Prepack(const OrtSessionOptions*) {}
  std::shared_ptr<KernelRegistry> GetKernelRegistry() const override { return std::make_shared<KernelRegistry>(); }
};

struct PrepackEp : detail::EpTable<Prepack> {
  PrepackEp(const char* name, const OrtSessionOptions* options) : EpTable(name, options) {
    const OrtEpApi& ep = *detail::host.ep;
    OrtKernelDefBuilder* builder = nullptr;
    OrtKernelDef* def = nullptr;
    detail::check(ep.CreateKernelDefBuilder(&builder));
    detail::check(ep.KernelDefBuilder_SetOperatorType(builder, "Mul"));
    detail::check(ep.KernelDefBuilder_SetDomain(builder, ""));
    detail::check(ep.KernelDefBuilder_SetSinceVersion(builder, 7, 14));
    detail::check(ep.KernelDefBuilder_SetExecutionProvider(builder, kName));
    detail::check(ep.KernelDefBuilder_Build(builder, &def));
    const OrtKernelCreateFunc create = [](void*, const OrtKernelInfo*, OrtKernelImpl** out) {
      return detail::guard([&] { *out = new Kernel; });
    };
    detail::check(ep.KernelRegistry_AddKernel(registry, def, create, nullptr));
    ep.ReleaseKernelDef(def);
    ep.ReleaseKernelDefBuilder(builder);
  }
};

using PrepackFactory = TestFactory<PrepackEp, ProviderTraits>;

}  // namespace

RH_EXPORT_TEST_PLUGIN(PrepackFactory, kName)

/// The packed weight that a kernel got last from the host; null where it kept its own.
extern "C" ORT_EXPORT const void* rh_test_last_packed() { return g_last; }
