#include "ops/sequence/concat_from_sequence.h"

#include "ops/registry.h"
#include "ops/sequence/sequence_types.h"

namespace rh::ops {

void infer(const ConcatFromSequence& op, InferenceContext& context) {
  const ValueType element = sequence_element(context, 0);
  if (!element.is_tensor()) return;
  TensorType y = element.tensor();
  if (y.has_rank()) {
    const int axis = context.check_axis("axis", op.axis, y.rank() + (op.new_axis ? 1 : 0));
    if (op.new_axis) y.dims->insert(y.dims->begin() + axis, Dim());
    (*y.dims)[axis] = Dim();
  }
  context.set_output(0, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(ConcatFromSequence)
