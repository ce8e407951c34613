#include "ops/tensor/reverse_sequence.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

ReverseSequence ReverseSequence::read(const NodeView& node) {
  const int64_t batch = node.int_or("batch_axis", 1), time = node.int_or("time_axis", 0);
  if ((batch != 0 && batch != 1) || time != 1 - batch) {
    node.fail("batch_axis is {} and time_axis {}, expected 0 and 1 or 1 and 0", batch, time);
  }
  return {.batch_first = batch == 0};
}

void infer(const ReverseSequence&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() < 2) context.node().fail("the input has rank {}, expected at least 2", x.rank());
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(ReverseSequence)
