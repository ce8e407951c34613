// A provider that prefers channels last: Conv and GlobalAveragePool in that layout, Relu and Add in any. Options: compile (1: units),
// refuse (the name of a node that it takes in the layout of the standard alone), keep (an operator that is not to be converted).
#include "kit.h"

namespace {

using namespace rh::test::kit;

constexpr char kName[] = "NhwcExecutionProvider", kDomain[] = "com.ms.internal.nhwc";

struct Attributes {
  std::vector<int64_t> pads{0, 0, 0, 0}, strides{1, 1};
};

/// Elements of a batch by row, column and channel.
struct Image {
  const TensorView& view;
  float& at(int64_t n, int64_t y, int64_t x, int64_t c) const {
    return static_cast<float*>(view.data)[((n * view.shape[1] + y) * view.shape[2] + x) * view.shape[3] + c];
  }
};

void convolve(const Attributes& attributes, OpKernelContext& context) {
  const TensorView x = context.input(0), w = context.input(1);
  const auto& k = w.shape;  // output channels, input channels, rows, columns
  const auto* weights = static_cast<const float*>(w.data);
  const float* bias = context.input_count() > 2 ? static_cast<const float*>(context.input(2).data) : nullptr;
  const int64_t rows = (x.shape[1] + attributes.pads[0] + attributes.pads[2] - k[2]) / attributes.strides[0] + 1;
  const int64_t columns = (x.shape[2] + attributes.pads[1] + attributes.pads[3] - k[3]) / attributes.strides[1] + 1;
  const TensorView out = context.output(0, {x.shape[0], rows, columns, k[0]});
  const Image from{x}, to{out};
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    for (int64_t i = 0; i < rows * columns * k[0]; ++i) {
      const int64_t o = i % k[0], column = i / k[0] % columns, row = i / k[0] / columns;
      float sum = bias ? bias[o] : 0;
      for (int64_t j = 0; j < k[1] * k[2] * k[3]; ++j) {
        const int64_t dx = j % k[3], dy = j / k[3] % k[2], c = j / k[3] / k[2];
        const int64_t sy = row * attributes.strides[0] + dy - attributes.pads[0],
                      sx = column * attributes.strides[1] + dx - attributes.pads[1];
        if (sy < 0 || sx < 0 || sy >= x.shape[1] || sx >= x.shape[2]) continue;
        sum += from.at(n, sy, sx, c) * weights[((o * k[1] + c) * k[2] + dy) * k[3] + dx];
      }
      to.at(n, row, column, o) = sum;
    }
  }
}

void average(OpKernelContext& context) {
  const TensorView x = context.input(0);
  const TensorView out = context.output(0, {x.shape[0], 1, 1, x.shape[3]});
  const Image from{x}, to{out};
  const int64_t pixels = x.shape[1] * x.shape[2];
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    for (int64_t c = 0; c < x.shape[3]; ++c) {
      float sum = 0;
      for (int64_t i = 0; i < pixels; ++i) sum += from.at(n, i / x.shape[2], i % x.shape[2], c);
      to.at(n, 0, 0, c) = sum / static_cast<float>(pixels);
    }
  }
}

void add_or_relu(const std::string& op, OpKernelContext& context) {
  const TensorView a = context.input(0), b = op == "Add" ? context.input(1) : a;
  const TensorView out = context.output(0, a.shape);
  for (int64_t i = 0; i < a.elements(); ++i) {
    const float x = static_cast<const float*>(a.data)[i], y = static_cast<const float*>(b.data)[i];
    static_cast<float*>(out.data)[i] = op == "Add" ? x + y : std::max(x, 0.0f);
  }
}

KernelFunction function_of(const std::string& op, const Attributes& attributes) {
  if (op == "Conv") return [attributes](OpKernelContext& context) { convolve(attributes, context); };
  if (op == "GlobalAveragePool") return average;
  return [op](OpKernelContext& context) { add_or_relu(op, context); };
}

Attributes attributes_of(const OrtKernelInfo* info) {
  Attributes attributes;
  for (auto [name, list] : {std::pair("pads", &attributes.pads), std::pair("strides", &attributes.strides)}) {
    size_t size = list->size();
    if (OrtStatus* status = detail::host.api->KernelInfoGetAttributeArray_int64(info, name, list->data(), &size)) {
      detail::host.api->ReleaseStatus(status);
    }
  }
  return attributes;
}

Attributes attributes_of(const Node& node) {
  Attributes attributes;
  for (auto [name, list] : {std::pair("pads", &attributes.pads), std::pair("strides", &attributes.strides)}) {
    const OrtOpAttr* attribute = nullptr;
    if (OrtStatus* status = detail::host.api->Node_GetAttributeByName(node.raw(), name, &attribute))
      detail::host.api->ReleaseStatus(status);
    size_t size = 0;
    if (attribute)
      detail::check(detail::host.api->ReadOpAttr(attribute, ORT_OP_ATTR_INTS, list->data(), list->size() * sizeof(int64_t), &size));
  }
  return attributes;
}

class Nhwc final : public IExecutionProvider {
 public:
  explicit Nhwc(const OrtSessionOptions* options)
      : compile_(config(options, "ep.nhwcexecutionprovider.compile") == "1"),
        refuse_(config(options, "ep.nhwcexecutionprovider.refuse")),
        keep(config(options, "ep.nhwcexecutionprovider.keep")) {}

  std::shared_ptr<KernelRegistry> GetKernelRegistry() const override {
    if (compile_) return nullptr;
    auto registry = std::make_shared<KernelRegistry>();
    const auto add = [&](const char* op, const char* domain, int start, int end) {
      registry->add(
          {op, domain, start, end, {{"T", {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT}}}, [op = std::string(op)](const OrtKernelInfo* info) {
             return function_of(op, attributes_of(info));
           }});
    };
    add("Conv", kDomain, 11, 22);
    add("GlobalAveragePool", kDomain, 1, 22);
    add("Relu", "", 6, 14);
    add("Add", "", 7, 14);
    return registry;
  }

  std::vector<std::unique_ptr<ComputeCapability>> GetCapability(const GraphViewer& graph, const IKernelLookup&) const override {
    std::vector<std::unique_ptr<ComputeCapability>> taken;
    for (const Node& node : graph.nodes()) {
      const std::string op = node.op_type();
      if (op == "Relu" || op == "Add") taken.push_back(std::make_unique<ComputeCapability>(node, compile_));
      if (op != "Conv" && op != "GlobalAveragePool") continue;
      // In the layout of the standard it takes what is to be converted.
      if (node.domain() == kDomain ? node.name() != refuse_ : op != keep)
        taken.push_back(std::make_unique<ComputeCapability>(node, compile_));
    }
    return taken;
  }

  NodeComputeInfo Compile(const GraphViewer& graph, const Node&) override {
    const Node node = graph.nodes().at(0);
    return {function_of(node.op_type(), attributes_of(node))};
  }

 private:
  bool compile_;
  std::string refuse_;

 public:
  const std::string keep;
};

struct NhwcEp : detail::EpTable<Nhwc> {
  NhwcEp(const char* name, const OrtSessionOptions* options) : EpTable(name, options) {
    GetPreferredDataLayout = [](OrtEp*, OrtEpDataLayout* layout) -> OrtStatus* {
      *layout = OrtEpDataLayout_NHWC;
      return nullptr;
    };
    ShouldConvertDataLayoutForOp = [](OrtEp* self, const char*, const char* op, OrtEpDataLayout, int* convert) -> OrtStatus* {
      *convert = static_cast<NhwcEp*>(self)->provider.keep == op ? 0 : -1;
      return nullptr;
    };
  }
};

using NhwcFactory = TestFactory<NhwcEp, ProviderTraits>;

}  // namespace

RH_EXPORT_TEST_PLUGIN(NhwcFactory, kName)
