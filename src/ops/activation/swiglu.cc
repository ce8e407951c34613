#include "ops/activation/swiglu.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const SwiGLU&, InferenceContext& context) {
  const TensorType &a = context.input_tensor(0), &b = context.input_tensor(1);
  if (!a.has_rank() || !b.has_rank()) return context.set_output(0, a.dtype, a.has_rank() ? a.dims : b.dims);
  if (a.rank() != b.rank()) context.node().fail("inputs have the ranks {} and {}, expected one shape", a.rank(), b.rank());
  SymbolicShape dims;
  for (int i = 0; i < a.rank(); ++i) dims.push_back(agree(context, (*a.dims)[i], (*b.dims)[i], "dimensions"));
  context.set_output(0, a.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(SwiGLU)
