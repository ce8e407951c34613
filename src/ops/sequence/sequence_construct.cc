#include "ops/sequence/sequence_construct.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const SequenceConstruct&, InferenceContext& context) {
  ValueType element = context.input_tensor(0);
  for (int i = 1; i < context.input_count(); ++i) element = either(context, element, context.input_tensor(i), "elements of the sequence");
  context.set_output(0, ValueType::sequence_of(std::move(element)));
}

}  // namespace rh::ops

RH_DEFINE_OP(SequenceConstruct)
