#include "ops/optional/optional.h"

#include "ops/registry.h"

namespace rh::ops {

Optional Optional::read(const NodeView& node) {
  const Attribute* attribute = node.node().attribute("type");
  if (!attribute) return {};
  const ValueType* type = attribute->get<ValueType>();
  if (!type) node.fail("attribute '{}' has the wrong kind, expected a type", "type");
  return {.type = *type};
}

void infer(const Optional& op, InferenceContext& context) {
  if (!context.has_input(0) && op.type.is_unknown()) context.node().fail("neither an input nor the attribute '{}' is given", "type");
  const ValueType& held = context.has_input(0) ? context.input_type(0) : op.type;
  if (!held.is_unknown()) context.set_output(0, ValueType::optional_of(held));
}

}  // namespace rh::ops

RH_DEFINE_OP(Optional)
