#include "ops/vision/non_max_suppression.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const NonMaxSuppression&, InferenceContext& context) {
  const TensorType &boxes = context.input_tensor(0), &scores = context.input_tensor(1);
  if (boxes.has_rank() && (boxes.rank() != 3 || ((*boxes.dims)[2].is_constant() && !(*boxes.dims)[2].is_constant(4)))) {
    context.node().fail("boxes have shape {}, expected [batch, boxes, 4]", to_string(*boxes.dims));
  }
  if (scores.has_rank() && scores.rank() != 3)
    context.node().fail("scores have shape {}, expected [batch, classes, boxes]", to_string(*scores.dims));
  context.set_output(0, DType::int64, SymbolicShape{context.fresh_symbol(), Dim(3)});
}

}  // namespace rh::ops

RH_DEFINE_OP(NonMaxSuppression)
