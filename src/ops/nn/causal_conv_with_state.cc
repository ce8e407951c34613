#include "ops/nn/causal_conv_with_state.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

CausalConvWithState CausalConvWithState::read(const NodeView& node) {
  const std::string activation = node.string_or("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    node.fail("activation is '{}', expected 'none', 'silu' or 'swish'", activation);
  }
  return {.silu = activation != "none"};
}

void infer(const CausalConvWithState&, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &weight = context.input_tensor(1);
  for (const TensorType* type : {&x, &weight}) {
    if (type->has_rank() && type->rank() != 3) context.node().fail("an input has shape {}, expected 3 dimensions", to_string(*type->dims));
  }
  context.set_output(0, x);
  if (!x.has_rank()) return context.set_output(1, x.dtype);
  if (weight.has_rank()) agree(context, (*x.dims)[1], (*weight.dims)[0], "channels");
  context.set_output(1, x.dtype, SymbolicShape{(*x.dims)[0], (*x.dims)[1], weight.has_rank() ? (*weight.dims)[2] - Dim(1) : Dim()});
}

}  // namespace rh::ops

RH_DEFINE_OP(CausalConvWithState)
