#include "ops/tensor/identity.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const Identity&, InferenceContext& context) {
  context.set_output(0, context.input_type(0));
  if (context.input_type(0).is_tensor()) keep_contents(context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Identity)
