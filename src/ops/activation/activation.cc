#include "ops/activation/activation.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

using F = Activation::Function;
constexpr OpName<F> kNames[] = {
    {"Relu", F::relu},
    {"LeakyRelu", F::leaky_relu},
    {"Elu", F::elu},
    {"Selu", F::selu},
    {"Celu", F::celu},
    {"HardSigmoid", F::hard_sigmoid},
    {"HardSwish", F::hard_swish},
    {"Softplus", F::softplus},
    {"Softsign", F::softsign},
    {"ThresholdedRelu", F::thresholded_relu},
    {"Gelu", F::gelu},
    {"Mish", F::mish},
    {"Swish", F::swish},
    {"Shrink", F::shrink},
    {"QuickGelu", F::swish},
    {"ParametricSoftplus", F::parametric_softplus},
    {"ScaledTanh", F::scaled_tanh},
};

}  // namespace

Activation Activation::read(const NodeView& node) {
  Activation op{enumerator_of(node, kNames)};
  const bool first = node.opset() < 6;
  switch (op.function) {
    case F::leaky_relu: op.alpha = node.float_or("alpha", 0.01f); break;
    case F::elu:
    case F::celu:
    case F::thresholded_relu: op.alpha = node.float_or("alpha", 1.0f); break;
    case F::swish: op.alpha = node.float_or("alpha", node.op_type() == "QuickGelu" ? 1.702f : 1.0f); break;
    case F::selu:
      op.alpha = node.float_or("alpha", first ? 1.6732f : 1.67326319217681884765625f);
      op.beta = node.float_or("gamma", first ? 1.0507f : 1.05070102214813232421875f);
      break;
    case F::hard_sigmoid:
      op.alpha = node.float_or("alpha", 0.2f);
      op.beta = node.float_or("beta", 0.5f);
      break;
    case F::parametric_softplus:
    case F::scaled_tanh:
      op.alpha = node.required_float("alpha");
      op.beta = node.required_float("beta");
      break;
    case F::shrink:
      op.alpha = node.float_or("lambd", 0.5f);
      op.beta = node.float_or("bias", 0.0f);
      break;
    case F::gelu: {
      const std::string approximate = node.string_or("approximate", "none");
      if (approximate != "none" && approximate != "tanh") node.fail("approximate is '{}', expected none or tanh", approximate);
      if (approximate == "tanh") op.function = F::gelu_tanh;
      break;
    }
    default: break;
  }
  return op;
}

void infer(const Activation&, InferenceContext& context) { infer_same(context); }

}  // namespace rh::ops

RH_DEFINE_OP(Activation)
