#include "ops/tensor/expand.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const Expand& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const auto target = op.shape.contents(context);
  if (!x.has_rank() || !target) return context.set_output(0, x.dtype);
  for (const Dim& d : *target) {
    if (d.is_constant() && d.value() < 0) context.node().fail("shape {} has {}, expected none below 0", to_string(*target), d.value());
  }
  const SymbolicShape y = context.broadcast(*x.dims, *target);
  context.set_output(0, x.dtype, y);
  const auto contents = context.input_contents(0);
  if (!contents || y.size() > 1) return;
  if (contents->size() == 1 && !y.empty() && y[0].is_constant() && y[0].value() <= 64) {
    context.set_output_contents(0, SymbolicShape(static_cast<size_t>(y[0].value()), contents->front()));
  } else if (y.empty() || y[0].is_constant(static_cast<int64_t>(contents->size()))) {
    keep_contents(context);
  }
}

}  // namespace rh::ops

RH_DEFINE_OP(Expand)
