#include "ops/quant/byte_table.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const ByteTable&, InferenceContext& context) {
  TensorType y = context.input_tensor(0);
  y.dtype = context.input_tensor(1).dtype;
  context.set_output(0, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(ByteTable)
