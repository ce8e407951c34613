#include "ops/tensor/given_tensor_fill.h"

#include "ops/registry.h"

namespace rh::ops {

GivenTensorFill GivenTensorFill::read(const NodeView& node) {
  GivenTensorFill op{.shape = node.ints_or("shape"), .extra_shape = node.ints_or("extra_shape"), .values = node.floats_or("values")};
  if (node.has_input(0)) op.shape_from = node.flag("input_as_shape") ? Shape::contents : Shape::of_input;
  return op;
}

void infer(const GivenTensorFill& op, InferenceContext& context) {
  using From = GivenTensorFill::Shape;
  std::optional<SymbolicShape> dims;
  if (op.shape_from == From::attribute) {
    dims = SymbolicShape(op.shape.begin(), op.shape.end());
  } else {
    dims = op.shape_from == From::contents ? context.input_contents(0) : context.input_tensor(0).dims;
    if (dims) dims->insert(dims->end(), op.extra_shape.begin(), op.extra_shape.end());
  }
  context.set_output(0, DType::float32, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(GivenTensorFill)
