#include "ops/tensor/pad.h"

#include "ops/dim_rules.h"
#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

Pad Pad::read(const NodeView& node) {
  const std::string mode = node.string_or("mode", "constant");
  Pad op;
  if (mode == "constant") {
    op.mode = Mode::constant;
  } else if (mode == "reflect") {
    op.mode = Mode::reflect;
  } else if (mode == "edge") {
    op.mode = Mode::edge;
  } else if (mode == "wrap") {
    op.mode = Mode::wrap;
  } else {
    node.fail("mode is '{}', expected constant, reflect, edge or wrap", mode);
  }
  if (node.opset() < 11 && node.domain().empty()) {
    op.pads = IntsOperand::from_attribute(node, node.opset() < 2 ? "paddings" : "pads");
    op.value = node.float_or("value", 0);
  } else {
    op.pads = IntsOperand::from_input(node, 1);
    op.axes = IntsOperand::from_input(node, 3);
  }
  return op;
}

void infer(const Pad& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  const auto pads = op.pads.contents(context);
  const auto axes = op.axes.ints(context);
  if (!pads || (op.axes.is_given(context) && !axes)) return context.set_output(0, x.dtype, unknown_dims(x.rank()));
  const size_t count = axes ? axes->size() : static_cast<size_t>(x.rank());
  if (pads->size() != 2 * count) context.node().fail("pads has {} elements, expected {} for {} axes", pads->size(), 2 * count, count);
  SymbolicShape y = *x.dims;
  for (size_t i = 0; i < count; ++i) {
    const int axis = axes ? context.check_axis("axes", (*axes)[i], x.rank()) : static_cast<int>(i);
    y[axis] = y[axis] + (*pads)[i] + (*pads)[count + i];
    if (y[axis].is_constant() && y[axis].value() < 0) {
      fail_when_run(context.node(), "pads make dimension {} of {} negative: {}", axis, to_string(*x.dims), y[axis].value());
    }
  }
  context.set_output(0, x.dtype, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(Pad)
