#include "ops/optional/optional_get_element.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const OptionalGetElement&, InferenceContext& context) {
  const ValueType& type = context.input_type(0);
  context.set_output(0, type.kind() == ValueType::Kind::optional ? type.element() : type);
}

}  // namespace rh::ops

RH_DEFINE_OP(OptionalGetElement)
