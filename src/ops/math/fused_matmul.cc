#include "ops/math/fused_matmul.h"

#include <algorithm>

#include "ops/math/matmul.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

SymbolicShape turned(const SymbolicShape& shape, bool transposes_batch, bool transposes) {
  SymbolicShape result = shape;
  if (result.size() < 2) return result;  // vectors stay as they are
  if (transposes_batch) std::rotate(result.begin(), result.begin() + 1, result.end() - 1);
  if (transposes) std::swap(result[result.size() - 1], result[result.size() - 2]);
  return result;
}

}  // namespace

FusedMatMul FusedMatMul::read(const NodeView& node) {
  return {.alpha = node.float_or("alpha", 1),
          .transpose_a = node.flag("transA"),
          .transpose_b = node.flag("transB"),
          .transpose_batch_a = node.flag("transBatchA"),
          .transpose_batch_b = node.flag("transBatchB"),
          .activation = FusedActivation::read(node)};
}

void infer(const FusedMatMul& op, InferenceContext& context) {
  const TensorType &a = context.input_tensor(0), &b = context.input_tensor(1);
  if (!a.has_rank() || !b.has_rank()) return context.set_output(0, a.dtype);
  context.set_output(
      0, a.dtype,
      matmul_shape(context, turned(*a.dims, op.transpose_batch_a, op.transpose_a), turned(*b.dims, op.transpose_batch_b, op.transpose_b)));
}

}  // namespace rh::ops

RH_DEFINE_OP(FusedMatMul)
