#include "ops/nn/gated_rms_norm.h"

#include "ops/registry.h"

namespace rh::ops {

GatedRMSNorm GatedRMSNorm::read(const NodeView& node) {
  GatedRMSNorm op{.epsilon = node.float_or("epsilon", 1e-5f)};
  const std::string activation = node.string_or("activation", "silu");
  if (activation == "sigmoid") {
    op.activation = Activation::sigmoid;
  } else if (activation != "silu" && activation != "swish") {
    node.fail("activation is '{}', expected silu, swish or sigmoid", activation);
  }
  if (!(op.epsilon >= 0)) node.fail("epsilon is {}, expected at least 0", op.epsilon);
  return op;
}

void infer(const GatedRMSNorm&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() < 1) context.node().fail("X is a scalar, expected at least one dimension");
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(GatedRMSNorm)
