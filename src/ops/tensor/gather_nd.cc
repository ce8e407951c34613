#include "ops/tensor/gather_nd.h"

#include <algorithm>

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const GatherND& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &indices = context.input_tensor(1);
  if (!x.has_rank() || !indices.has_rank()) return context.set_output(0, x.dtype);
  if (op.batch_dims < 0 || op.batch_dims >= std::min(x.rank(), indices.rank())) {
    context.node().fail("batch_dims is {}, expected at least 0 and less than the ranks {} and {}", op.batch_dims, x.rank(), indices.rank());
  }
  const Dim& tuple = indices.dims->back();
  if (!tuple.is_constant()) return context.set_output(0, x.dtype);
  const int batch = static_cast<int>(op.batch_dims);
  if (tuple.value() < 0 || tuple.value() > x.rank() - batch) {
    context.node().fail("the last dimension of indices is {}, expected a value in [0, {}]", tuple.value(), x.rank() - batch);
  }
  SymbolicShape y(indices.dims->begin(), indices.dims->end() - 1);
  y.insert(y.end(), x.dims->begin() + batch + tuple.value(), x.dims->end());
  context.set_output(0, x.dtype, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(GatherND)
