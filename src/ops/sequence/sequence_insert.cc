#include "ops/sequence/sequence_insert.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"
#include "ops/sequence/sequence_types.h"

namespace rh::ops {

void infer(const SequenceInsert&, InferenceContext& context) {
  const ValueType tensor = context.input_tensor(1);
  const ValueType element = sequence_element(context, 0);
  context.set_output(0, ValueType::sequence_of(either(context, element, tensor, "the tensor and the elements of the sequence")));
}

}  // namespace rh::ops

RH_DEFINE_OP(SequenceInsert)
