#include "ops/activation/bias_gelu.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const BiasGelu&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (context.has_input(1) && x.has_rank() && context.input_tensor(1).has_rank()) {
    const SymbolicShape& bias = *context.input_tensor(1).dims;
    if (x.rank() == 0 || bias.size() != 1) {
      context.node().fail("X has shape {} and the bias {}, expected [..., N] and [N]", to_string(*x.dims), to_string(bias));
    }
    agree(context, x.dims->back(), bias[0], "sizes of X and its bias");
  }
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(BiasGelu)
