#include "ops/math/sparse_to_dense_matmul.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const SparseToDenseMatMul& op, InferenceContext& context) {
  const NodeView& node = context.node();
  const ValueType& type = context.input_type(0);
  if (type.kind() != ValueType::Kind::sparse_tensor) node.fail("A is {}, expected a sparse tensor", type.to_string());
  const TensorType &a = type.tensor(), &b = context.input_tensor(1);
  SymbolicShape y = unknown_dims(2);
  for (const TensorType* matrix : {&a, &b}) {
    if (matrix->has_rank() && matrix->rank() != 2) {
      node.fail("{} has shape {}, expected two dimensions", matrix == &a ? "A" : "B", to_string(*matrix->dims));
    }
  }
  if (a.has_rank()) y[0] = (*a.dims)[op.transpose_a ? 1 : 0];
  if (b.has_rank()) y[1] = (*b.dims)[op.transpose_b ? 0 : 1];
  if (a.has_rank() && b.has_rank()) {
    agree(context, (*a.dims)[op.transpose_a ? 0 : 1], (*b.dims)[op.transpose_b ? 1 : 0], "the columns of A and the rows of B");
  }
  context.set_output(0, b.dtype, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(SparseToDenseMatMul)
