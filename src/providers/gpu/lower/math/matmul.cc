#include <array>

#include "providers/gpu/lower/math/product.h"
#include "providers/gpu/lower/operators.h"

namespace rh::gpu {

kit::Support supports_matmul(const NodeView& node) { return require_types(node, 0, kFloats); }

// Vectors are matrices of one row or one column; batch dimensions are broadcast.
void lower_matmul(const NodeView& node, Lowering& lowering) {
  const ValueId a = node.node().inputs[0], b = node.node().inputs[1], y = node.node().outputs[0];
  Shape left = lowering.shape(a), right = lowering.shape(b);
  if (left.rank() == 1) left = {1, left[0]};
  if (right.rank() == 1) right = {right[0], 1};
  const int left_rank = left.rank(), right_rank = right.rank();
  Product product{.a = a, .b = b, .c = y};
  product.m = left[left_rank - 2];
  product.k = left[left_rank - 1];
  product.n = right[right_rank - 1];
  const Shape left_batch(left.begin(), left.end() - 2), right_batch(right.begin(), right.end() - 2);
  product.batch = broadcast(left_batch, right_batch);
  product.a_batch = broadcast_strides(left_batch, product.batch);
  product.b_batch = broadcast_strides(right_batch, product.batch);
  for (int64_t& stride : product.a_batch) stride *= product.m * product.k;
  for (int64_t& stride : product.b_batch) stride *= product.k * product.n;
  product.a_row = product.k;
  product.b_row = product.n;
  lower_product(lowering, product);
}

}  // namespace rh::gpu
