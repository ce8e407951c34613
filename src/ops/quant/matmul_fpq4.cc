#include "ops/quant/matmul_fpq4.h"

#include "ops/quant/block_size.h"
#include "ops/registry.h"

namespace rh::ops {

MatMulFpQ4 MatMulFpQ4::read(const NodeView& node) {
  // ONNX Runtime reads every type but 0 as 1.
  return {.has_zero_points = node.int_or("blk_quant_type", 1) != 0};
}

void infer(const MatMulFpQ4&, InferenceContext& context) {
  const TensorType& a = context.input_tensor(0);
  if (const std::optional<std::vector<int64_t>> shape = context.input_ints(2)) {
    if (shape->size() != 2) context.node().fail("B_shape has {} elements, expected K and N", shape->size());
    check_weight_sizes(context.node(), (*shape)[0], (*shape)[1]);
    return infer_product(context, "K", (*shape)[0], (*shape)[1]);
  }
  if (!a.has_rank()) return context.set_output(0, a.dtype);
  if (a.rank() < 1) context.node().fail("A is a scalar, expected at least one dimension");
  SymbolicShape dims = *a.dims;
  dims.back() = context.fresh_symbol();
  context.set_output(0, a.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(MatMulFpQ4)
