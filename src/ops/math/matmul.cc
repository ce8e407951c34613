#include "ops/math/matmul.h"

#include "ops/registry.h"

namespace rh::ops {

SymbolicShape matmul_shape(const InferenceContext& context, const SymbolicShape& a, const SymbolicShape& b) {
  if (a.empty() || b.empty())
    context.node().fail("shapes {} and {} cannot be multiplied: scalars are not allowed", to_string(a), to_string(b));
  const Dim& inner_a = a.back();
  const Dim& inner_b = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (inner_a.is_constant() && inner_b.is_constant() && inner_a.value() != inner_b.value()) {
    context.node().fail("shapes {} and {} cannot be multiplied: {} columns against {} rows", to_string(a), to_string(b), inner_a.value(),
                        inner_b.value());
  }
  const SymbolicShape batch_a(a.begin(), a.size() > 2 ? a.end() - 2 : a.begin());
  const SymbolicShape batch_b(b.begin(), b.size() > 2 ? b.end() - 2 : b.begin());
  SymbolicShape dims = context.broadcast(batch_a, batch_b);
  if (a.size() > 1) dims.push_back(a[a.size() - 2]);
  if (b.size() > 1) dims.push_back(b.back());
  return dims;
}

void infer(const MatMul&, InferenceContext& context) {
  const TensorType &a = context.input_tensor(0), &b = context.input_tensor(1);
  if (!a.has_rank() || !b.has_rank()) return context.set_output(0, a.dtype);
  context.set_output(0, a.dtype, matmul_shape(context, *a.dims, *b.dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(MatMul)
