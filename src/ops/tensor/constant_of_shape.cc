#include "ops/tensor/constant_of_shape.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

ConstantOfShape ConstantOfShape::read(const NodeView& node) {
  const Tensor* value = node.tensor("value");
  if (value && value->elements() != 1) node.fail("value has {} elements, expected 1", value->elements());
  return {.shape = IntsOperand::from_input(node, 0), .value = value ? *value : Tensor::scalar<float>(0)};
}

void infer(const ConstantOfShape& op, InferenceContext& context) {
  const DType dtype = op.value.dtype();
  const auto shape = op.shape.contents(context);
  context.set_output(0, dtype, shape);
  if (!shape) return;
  for (const Dim& d : *shape) {
    if (d.is_constant() && d.value() < 0) context.node().fail("shape {} has {}, expected none below 0", to_string(*shape), d.value());
  }
  if ((dtype != DType::int64 && dtype != DType::int32) || shape->size() > 1) return;
  const Dim count = product(*shape, 0, shape->size());
  if (!count.is_constant() || count.value() > 64) return;
  const Dim element(element_as_int(op.value.view(), 0));
  context.set_output_contents(0, SymbolicShape(static_cast<size_t>(count.value()), element));
}

}  // namespace rh::ops

RH_DEFINE_OP(ConstantOfShape)
