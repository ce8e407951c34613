#include "ops/math/fused_matmul.h"

#include "providers/gpu/lower/math/product.h"
#include "providers/gpu/lower/operators.h"

namespace rh::gpu {

kit::Support supports_fused_matmul(const NodeView& node) {
  const ops::FusedMatMul op = ops::FusedMatMul::read(node);
  if (op.transpose_batch_a || op.transpose_batch_b) {
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of FusedMatMul does not move batch dimensions");
  }
  if (rank_of(node, 0) < 2 || rank_of(node, 1) < 2) return kit::refuse(RhRefusalCode_SHAPE, "its kernel of FusedMatMul takes matrices");
  return require_types(node, 0, kFloats);
}

void lower_fused_matmul(const NodeView& node, Lowering& lowering) {
  const ops::FusedMatMul op = ops::FusedMatMul::read(node);
  Product product =
      product_of(lowering, node.node().inputs[0], node.node().inputs[1], node.node().outputs[0], op.transpose_a, op.transpose_b);
  product.alpha = op.alpha;
  lower_product(lowering, product);
}

}  // namespace rh::gpu
