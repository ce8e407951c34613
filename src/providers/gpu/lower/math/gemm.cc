#include "ops/math/gemm.h"

#include "providers/gpu/lower/math/product.h"
#include "providers/gpu/lower/operators.h"

namespace rh::gpu {

namespace {

constexpr int kNumpyBroadcast = 7;  ///< the opset from which C is broadcast from its last dimension on

}  // namespace

kit::Support supports_gemm(const NodeView& node) {
  if (node.opset() < kNumpyBroadcast) {
    return kit::refuse(RhRefusalCode_OPSET, "its kernel of Gemm is for opset {} and newer", kNumpyBroadcast);
  }
  return require_types(node, 0, kFloats);
}

void lower_gemm(const NodeView& node, Lowering& lowering) {
  const ops::Gemm op = ops::Gemm::read(node);
  const ValueId a = node.node().inputs[0], b = node.node().inputs[1], c = node.node().outputs[0];
  const Shape left = lowering.shape(a), right = lowering.shape(b), result = lowering.shape(c);
  Product product{.a = a, .b = b, .c = c};
  product.m = result[0];
  product.n = result[1];
  product.k = op.transpose_a ? left[0] : left[1];
  product.a_row = op.transpose_a ? 1 : left[1];
  product.a_column = op.transpose_a ? left[1] : 1;
  product.b_row = op.transpose_b ? 1 : right[1];
  product.b_column = op.transpose_b ? right[1] : 1;
  product.alpha = op.alpha;
  product.beta = op.beta;
  if (node.has_input(2)) {
    product.bias = node.node().inputs[2];
    product.bias_strides = broadcast_strides(lowering.shape(product.bias), result);
  }
  lower_product(lowering, product);
}

}  // namespace rh::gpu
