// The provider to copy: kernels for Add, Mul and Relu on float tensors in host memory, in Roundhouse and in ONNX Runtime alike.
#include <roundhouse/provider.hpp>

namespace {

using namespace roundhouse::ep;

float apply(const std::string& op, float a, float b) {
  if (op == "Add") return a + b;
  if (op == "Mul") return a * b;
  return a > 0 ? a : 0;
}

/// One operator over all elements; an operand of one element goes with all of the other.
void run_elementwise(const std::string& op, OpKernelContext& context) {
  const TensorView a = context.input(0);
  const TensorView b = op == "Relu" ? a : context.input(1);
  const TensorView out = context.output(0, a.elements() >= b.elements() ? a.shape : b.shape);
  const auto* x = static_cast<const float*>(a.data);
  const auto* y = static_cast<const float*>(b.data);
  for (int64_t i = 0; i < out.elements(); ++i) {
    static_cast<float*>(out.data)[i] = apply(op, x[a.elements() == 1 ? 0 : i], y[b.elements() == 1 ? 0 : i]);
  }
}

/// Shapes that are known, of equal dimensions.
bool same_shape(const std::vector<NodeArg>& inputs) {
  std::vector<int64_t> first, other;
  if (!inputs[0].shape(first) || std::find(first.begin(), first.end(), -1) != first.end()) return false;
  return std::all_of(inputs.begin(), inputs.end(), [&](const NodeArg& input) { return input.shape(other) && other == first; });
}

class ExampleProvider final : public IExecutionProvider {
 public:
  ExampleProvider() : IExecutionProvider("ExampleExecutionProvider", OrtDevice()) {}

  std::shared_ptr<KernelRegistry> GetKernelRegistry() const override {
    auto registry = std::make_shared<KernelRegistry>();
    for (const auto& [op, start, end] : {std::tuple("Add", 7, 14), std::tuple("Mul", 7, 14), std::tuple("Relu", 6, 14)}) {
      registry->add({op, "", start, end, {{"T", {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT}}}, [op = std::string(op)](const OrtKernelInfo*) {
                       return [op](OpKernelContext& context) { run_elementwise(op, context); };
                     }});
    }
    return registry;
  }

  std::vector<std::unique_ptr<ComputeCapability>> GetCapability(const GraphViewer& graph,
                                                                const IKernelLookup& kernel_lookup) const override {
    std::vector<std::unique_ptr<ComputeCapability>> taken;
    for (const Node& node : graph.nodes()) {
      if (!kernel_lookup.has_kernel(node)) continue;
      if (node.op_type() != "Relu" && !same_shape(node.inputs())) {
        refuse(node, RhRefusalCode_SHAPE, "its kernels take operands whose shapes are known to be the same");
        continue;
      }
      taken.push_back(std::make_unique<ComputeCapability>(node));
    }
    return taken;
  }
};

struct ExampleTraits : TraitsOf<ExampleProvider> {
  static constexpr const char* kVendor = "Roundhouse";
};

}  // namespace

ROUNDHOUSE_EXPORT_PROVIDER(ExampleProvider, ExampleTraits)
