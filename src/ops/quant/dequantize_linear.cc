#include "ops/quant/dequantize_linear.h"

#include "ops/quant/quantize_linear.h"
#include "ops/registry.h"

namespace rh::ops {

DequantizeLinear DequantizeLinear::read(const NodeView& node) {
  const DequantizeLinear op{
      .axis = node.int_or("axis", 1), .block_size = node.int_or("block_size", 0), .to = dtype_attribute(node, "output_dtype")};
  if (op.block_size < 0) node.fail("block_size is {}, expected at least 0", op.block_size);
  return op;
}

void infer(const DequantizeLinear& op, InferenceContext& context) {
  check_scales(context, op.axis, op.block_size);
  context.set_output(0, op.to != DType::undefined ? op.to : context.input_dtype(1), context.input_tensor(0).dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(DequantizeLinear)
