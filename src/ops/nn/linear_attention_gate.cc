#include "ops/nn/linear_attention_gate.h"

#include "ops/registry.h"

namespace rh::ops {

LinearAttentionGate LinearAttentionGate::read(const NodeView& node) {
  if (node.has_output(1) && !node.has_input(3)) node.fail("output beta is wanted without the input b");
  return {};
}

void infer(const LinearAttentionGate&, InferenceContext& context) {
  const TensorType& a = context.input_tensor(0);
  if (a.has_rank() && a.rank() == 0) context.node().fail("a is a scalar, expected [batch, length, heads]");
  context.set_output(0, a);
  if (context.has_output(1)) context.set_output(1, context.input_tensor(3));
}

}  // namespace rh::ops

RH_DEFINE_OP(LinearAttentionGate)
