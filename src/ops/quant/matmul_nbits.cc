#include "ops/quant/matmul_nbits.h"

#include "ops/quant/block_size.h"
#include "ops/registry.h"

namespace rh::ops {

MatMulNBits MatMulNBits::read(const NodeView& node) {
  const MatMulNBits op{.k = node.required_int("K"),
                       .n = node.required_int("N"),
                       .bits = node.int_or("bits", 4),
                       .block_size = required_block_size(node),
                       .rounds_activations = node.int_or("accuracy_level", 0) == 4};
  check_weight_sizes(node, op.k, op.n);
  if (op.bits != 2 && op.bits != 4 && op.bits != 8) node.fail("bits is {}, expected 2, 4 or 8", op.bits);
  if (node.int_or("weight_prepacked", 0) != 0)
    node.fail("weight_prepacked is {}, expected 0: the weights in their own order", node.int_or("weight_prepacked", 0));
  return op;
}

void infer(const MatMulNBits& op, InferenceContext& context) { infer_product(context, "K", op.k, op.n); }

}  // namespace rh::ops

RH_DEFINE_OP(MatMulNBits)
