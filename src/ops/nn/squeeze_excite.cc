#include "ops/nn/squeeze_excite.h"

#include "ops/registry.h"

namespace rh::ops {

SqueezeExcite SqueezeExcite::read(const NodeView& node) {
  return {.activation = FusedActivation::read(node),
          .gate = FusedActivation::read(node, "gate"),
          .first_transposed = node.flag("first_transposed"),
          .second_transposed = node.flag("second_transposed"),
          .blocked = node.flag("blocked"),
          .from_means = node.flag("from_means")};
}

void infer(const SqueezeExcite& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && op.from_means && x.rank() != 2) context.node().fail("means have rank {}, expected 2: [N, C]", x.rank());
  if (x.has_rank() && !op.from_means && x.rank() < 3)
    context.node().fail("input has rank {}, expected at least 3: [N, C, spatial...]", x.rank());
  if (!x.dims) return context.set_output(0, x.dtype);
  context.set_output(0, x.dtype, SymbolicShape(*x.dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(SqueezeExcite)
