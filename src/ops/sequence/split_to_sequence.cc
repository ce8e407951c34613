#include "ops/sequence/split_to_sequence.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const SplitToSequence& op, InferenceContext& context) {
  TensorType part = context.input_tensor(0);
  if (part.has_rank()) {
    const int axis = context.check_axis("axis", op.axis, part.rank());
    if (context.has_input(1)) {
      (*part.dims)[axis] = Dim();
    } else if (op.keep_dims) {
      (*part.dims)[axis] = Dim(1);
    } else {
      part.dims->erase(part.dims->begin() + axis);
    }
  }
  context.set_output(0, ValueType::sequence_of(std::move(part)));
}

}  // namespace rh::ops

RH_DEFINE_OP(SplitToSequence)
