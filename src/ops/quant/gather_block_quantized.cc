#include "ops/quant/gather_block_quantized.h"

#include "ops/quant/block_size.h"
#include "ops/registry.h"

namespace rh::ops {

GatherBlockQuantized GatherBlockQuantized::read(const NodeView& node) {
  const GatherBlockQuantized op{.gather_axis = node.int_or("gather_axis", 0),
                                .quantize_axis = node.int_or("quantize_axis", 1),
                                .block_size = node.int_or("block_size", 128),
                                .bits = node.int_or("bits", 4)};
  if (op.bits != 2 && op.bits != 4 && op.bits != 8) node.fail("bits is {}, expected 2, 4 or 8", op.bits);
  if (op.block_size != 0) checked_block_size(node, op.block_size);
  return op;
}

void infer(const GatherBlockQuantized& op, InferenceContext& context) {
  const NodeView& node = context.node();
  const TensorType &data = context.input_tensor(0), &indices = context.input_tensor(1), &scales = context.input_tensor(2);
  const bool is_float = is_floating(data.dtype);
  if (is_float && context.has_input(3)) node.fail("zero_points are given for data of {}, expected none", to_string(data.dtype));
  if (!is_float && data.dtype != DType::undefined && op.block_size == 0) node.fail("block_size is 0, expected a power of two from 16 on");
  if ((data.dtype == DType::int4 || data.dtype == DType::uint4) && op.bits != 4) {
    node.fail("bits is {}, expected 4 for data of {}", op.bits, to_string(data.dtype));
  }
  if (!data.has_rank()) return context.set_output(0, scales.dtype);
  if (data.rank() < 1) node.fail("data is a scalar, expected at least one dimension");
  const int axis = context.check_axis("gather_axis", op.gather_axis, data.rank());
  const int quantized = context.check_axis("quantize_axis", op.quantize_axis, data.rank());
  if (data.dtype == DType::uint8) {
    if (axis != 0) node.fail("gather_axis is {}, expected 0 for data of uint8", op.gather_axis);
    if (quantized != data.rank() - 1) node.fail("quantize_axis is {}, expected the last axis for data of uint8", op.quantize_axis);
    if (op.bits < 8 && axis == quantized) node.fail("gather_axis and quantize_axis are both {}, expected two axes for packed data", axis);
  }
  if (!indices.has_rank()) return context.set_output(0, scales.dtype);
  SymbolicShape y(data.dims->begin(), data.dims->end());
  y.back() = y.back() * Dim(op.codes_per_byte(data.dtype));
  y.erase(y.begin() + axis);
  y.insert(y.begin() + axis, indices.dims->begin(), indices.dims->end());
  context.set_output(0, scales.dtype, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(GatherBlockQuantized)
