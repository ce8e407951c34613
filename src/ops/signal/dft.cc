#include "ops/signal/dft.h"

#include "ops/registry.h"

namespace rh::ops {

DFT DFT::read(const NodeView& node) {
  const bool newer = node.opset() >= 20;
  return {node.flag("inverse"), node.flag("onesided"), newer && node.has_input(2), newer ? -2 : node.int_or("axis", 1)};
}

void infer(const DFT& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  SymbolicShape shape = *x.dims;
  const int rank = x.rank();
  if (rank < 2) context.node().fail("input has shape {}, expected [..., 1] or [..., 2]", to_string(shape));
  std::optional<int64_t> axis = op.axis;
  if (op.axis_is_input) {
    const auto given = context.input_ints(2);
    axis = given && given->size() == 1 ? std::optional((*given)[0]) : std::nullopt;
  }
  shape.back() = op.gives_real() ? 1 : 2;
  if (!axis) {
    for (int k = 0; k + 1 < rank; ++k) shape[static_cast<size_t>(k)] = Dim();
    return context.set_output(0, x.dtype, std::move(shape));
  }
  const int at = context.check_axis("axis", *axis, rank);
  if (at == rank - 1) context.node().fail("axis is {}, expected a dimension before the last, which holds real and imaginary parts", *axis);
  Dim& size = shape[static_cast<size_t>(at)];
  if (context.has_input(1)) {
    const auto length = context.input_contents(1);
    size = length && length->size() == 1 ? (*length)[0] : Dim();
  } else if (op.gives_real()) {
    size = size.is_constant() ? Dim(op.default_length(size.value())) : Dim();
  }
  if (op.onesided && !op.inverse) size = size.is_constant() ? Dim(size.value() / 2 + 1) : Dim();
  context.set_output(0, x.dtype, std::move(shape));
}

}  // namespace rh::ops

RH_DEFINE_OP(DFT)
