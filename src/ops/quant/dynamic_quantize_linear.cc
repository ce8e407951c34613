#include "ops/quant/dynamic_quantize_linear.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const DynamicQuantizeLinear&, InferenceContext& context) {
  context.set_output(0, DType::uint8, context.input_tensor(0).dims);
  if (context.has_output(1)) context.set_output(1, DType::float32, SymbolicShape());
  if (context.has_output(2)) context.set_output(2, DType::uint8, SymbolicShape());
}

}  // namespace rh::ops

RH_DEFINE_OP(DynamicQuantizeLinear)
