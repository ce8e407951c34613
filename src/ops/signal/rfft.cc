#include "ops/signal/rfft.h"

#include "ops/registry.h"

namespace rh::ops {

Rfft Rfft::read(const NodeView& node) {
  const int64_t dimensions = node.int_or("signal_ndim", 1);
  if (dimensions < 1 || dimensions > 3) node.fail("attribute 'signal_ndim' is {}, expected 1 to 3", dimensions);
  if (node.flag("normalized")) node.fail("attribute 'normalized' is 1, expected 0: the transform is not normalised");
  if (!node.flag("onesided", true)) node.fail("attribute 'onesided' is 0, expected 1: the other half mirrors the first");
  return {node.op_type() == "Irfft", static_cast<int>(dimensions)};
}

void infer(const Rfft& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  SymbolicShape shape = *x.dims;
  const int axes = x.rank() - (op.inverse ? 1 : 0);
  if (axes < op.dimensions || (op.inverse && shape.back().is_constant() && shape.back().value() != 2)) {
    context.node().fail("input has shape {}, expected {} signal dimensions{}", to_string(shape), op.dimensions,
                        op.inverse ? " and a last one of 2: complex numbers" : "");
  }
  if (op.inverse) shape.pop_back();
  Dim& last = shape.back();
  last = !last.is_constant() ? Dim() : op.inverse ? Dim(2) * (last + Dim(-1)) : Dim(last.value() / 2 + 1);
  if (!op.inverse) shape.push_back(2);
  context.set_output(0, x.dtype, std::move(shape));
}

}  // namespace rh::ops

RH_DEFINE_OP(Rfft)
