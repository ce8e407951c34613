#include "ops/quant/matmul_bnb4.h"

#include "ops/quant/block_size.h"
#include "ops/registry.h"

namespace rh::ops {

MatMulBnb4 MatMulBnb4::read(const NodeView& node) {
  MatMulBnb4 op{.k = node.required_int("K"),
                .n = node.required_int("N"),
                .block_size = required_block_size(node),
                .transposed = node.flag("transB", true)};
  check_weight_sizes(node, op.k, op.n);
  const int64_t codes = node.required_int("quant_type");
  if (codes != 0 && codes != 1) node.fail("quant_type is {}, expected 0 (FP4) or 1 (NF4)", codes);
  op.codes = codes == 0 ? Codes::fp4 : Codes::nf4;
  return op;
}

void infer(const MatMulBnb4& op, InferenceContext& context) {
  infer_product(context, op.transposed ? "K" : "N", op.a_columns(), op.y_columns());
}

}  // namespace rh::ops

RH_DEFINE_OP(MatMulBnb4)
