#include "ops/sequence/sequence_map.h"

#include "ops/control_flow/subgraph_types.h"
#include "ops/registry.h"
#include "ops/sequence/sequence_types.h"

namespace rh::ops {

void infer(const SequenceMap&, InferenceContext& context) {
  sequence_element(context, 0);
  std::vector<ValueType> inputs;
  for (int i = 0; i < context.input_count(); ++i) {
    const ValueType& type = context.input_type(i);
    inputs.push_back(type.kind() == ValueType::Kind::sequence ? type.element() : type);
  }
  const std::vector<ValueType> outputs = context.infer_subgraph("body", inputs);
  if (static_cast<int>(outputs.size()) < context.output_count()) {
    context.node().fail("body has {} outputs, expected {}", outputs.size(), context.output_count());
  }
  for (int i = 0; i < context.output_count(); ++i) context.set_output(i, ValueType::sequence_of(visible_outside(context, outputs[i])));
}

}  // namespace rh::ops

RH_DEFINE_OP(SequenceMap)
