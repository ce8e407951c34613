// A provider whose factory brings domains of custom operators: "test.plugin" with Thrice, which the host's CPU runs, and Quarter, which the
// provider compiles; and "test.ops" with Twice, which programs may have registered themselves.
#include "kit.h"
#include "roundhouse/onnxruntime_cxx_api.h"

namespace {

using namespace rh::test::kit;

constexpr char kName[] = "DomainsExecutionProvider";
constexpr auto kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;

/// y = factor * x.
struct Scaled : OrtCustomOp {
  Scaled(const char* op_name, float by, const char* provider_name) : OrtCustomOp{}, op(op_name), factor(by), provider(provider_name) {
    version = detail::host.version;
    GetName = [](const OrtCustomOp* self) { return of(self).op; };
    GetExecutionProviderType = [](const OrtCustomOp* self) { return of(self).provider; };
    GetInputTypeCount = GetOutputTypeCount = [](const OrtCustomOp*) { return size_t{1}; };
    GetInputType = GetOutputType = [](const OrtCustomOp*, size_t) { return kFloat; };
    GetInputCharacteristic = GetOutputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_REQUIRED; };
    GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
    CreateKernelV2 = [](const OrtCustomOp* self, const OrtApi*, const OrtKernelInfo*, void** kernel) -> OrtStatus* {
      *kernel = const_cast<OrtCustomOp*>(self);
      return nullptr;
    };
    KernelComputeV2 = [](void* kernel, OrtKernelContext* raw) {
      return detail::guard([&] {
        OpKernelContext context(raw);
        static_cast<const Scaled*>(static_cast<OrtCustomOp*>(kernel))->compute(context);
      });
    };
    KernelDestroy = [](void*) {};
    InferOutputShapeFn = [](const OrtCustomOp*, OrtShapeInferContext* context) -> OrtStatus* {
      OrtTensorTypeAndShapeInfo* shape = nullptr;
      if (OrtStatus* status = detail::host.api->ShapeInferContext_GetInputTypeShape(context, 0, &shape)) return status;
      return detail::host.api->ShapeInferContext_SetOutputTypeShape(context, 0, shape);
    };
  }
  static const Scaled& of(const OrtCustomOp* self) { return *static_cast<const Scaled*>(self); }
  void compute(OpKernelContext& context) const {
    const TensorView x = context.input(0), y = context.output(0, x.shape);
    for (int64_t i = 0; i < x.elements(); ++i) static_cast<float*>(y.data)[i] = factor * static_cast<const float*>(x.data)[i];
  }

  const char* op;
  float factor;
  const char* provider;
};

struct Domains final : IExecutionProvider {
  explicit Domains(const OrtSessionOptions*) {}
  std::vector<std::unique_ptr<ComputeCapability>> GetCapability(const GraphViewer& graph, const IKernelLookup&) const override {
    std::vector<std::unique_ptr<ComputeCapability>> taken;
    for (const Node& node : graph.nodes()) {
      std::vector<int64_t> dims;
      if (node.op_type() != "Quarter" || node.domain() != "test.plugin") continue;
      if (!node.outputs().at(0).shape(dims)) throw std::runtime_error("the shape of Quarter's result is not known");
      taken.push_back(std::make_unique<ComputeCapability>(node, true));
    }
    return taken;
  }
  NodeComputeInfo Compile(const GraphViewer&, const Node&) override {
    return {[](OpKernelContext& context) { Scaled("Quarter", 0.25f, kName).compute(context); }};
  }
};

struct DomainsFactory : TestFactory<detail::EpTable<Domains>, ProviderTraits> {
  explicit DomainsFactory(const char* name) : TestFactory(name) {
    GetNumCustomOpDomains = [](OrtEpFactory*, size_t* count) -> OrtStatus* {
      *count = 2;
      return nullptr;
    };
    GetCustomOpDomains = [](OrtEpFactory* self, OrtCustomOpDomain** out, size_t count) {
      return detail::guard([&] {
        if (count != 2) throw std::runtime_error("there is room for " + std::to_string(count) + " domains, expected 2");
        auto& factory = *static_cast<DomainsFactory*>(self);
        if (!factory.domains[0]) factory.make_domains();
        for (size_t i = 0; i < count; ++i) out[i] = factory.domains[i];
      });
    };
  }
  ~DomainsFactory() {
    for (OrtCustomOpDomain* domain : domains) {
      if (domain) detail::host.api->ReleaseCustomOpDomain(domain);
    }
  }
  void make_domains() {
    detail::check(detail::host.api->CreateCustomOpDomain("test.plugin", &domains[0]));
    detail::check(detail::host.api->CreateCustomOpDomain("test.ops", &domains[1]));
    detail::check(detail::host.api->CustomOpDomain_Add(domains[0], &thrice));
    detail::check(detail::host.api->CustomOpDomain_Add(domains[0], &quarter));
    detail::check(detail::host.api->CustomOpDomain_Add(domains[1], &twice));
  }

  Scaled thrice{"Thrice", 3, nullptr}, quarter{"Quarter", 0, kName}, twice{"Twice", -2, nullptr};
  OrtCustomOpDomain* domains[2] = {};
};

}  // namespace

RH_EXPORT_TEST_PLUGIN(DomainsFactory, kName)
