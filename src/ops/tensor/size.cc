#include "ops/tensor/size.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const Size&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  context.set_output(0, DType::int64, SymbolicShape{});
  context.set_output_contents(0, SymbolicShape{x.elements()});
}

}  // namespace rh::ops

RH_DEFINE_OP(Size)
