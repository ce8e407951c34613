#include "ops/reduction/arg_reduce.h"
#include "ops/reduction/cumulative.h"
#include "ops/reduction/reduce.h"
#include "providers/coreml/lowerings.h"

namespace rh::coreml {

namespace {

using kit::Support, kit::refuse;

std::vector<int64_t> ints_of(const Tensor& tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.elements(); ++i) values.push_back(element_as_int(tensor.view(), i));
  return values;
}

}  // namespace

Support check_reduction(const NodeView& node) {
  const ops::Reduce op = ops::Reduce::read(node);
  if (!op.axes_are_input || !node.has_input(1) || node.constant_input(1)) return {};
  return refuse(RhRefusalCode_SHAPE, "its axes are known in a run alone");
}

void lower_reduction(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Reduce op = ops::Reduce::read(node);
  const Mil x = to.input(node, 0);
  std::vector<int64_t> given;
  if (op.axes_are_input && node.has_input(1)) given = ints_of(*node.constant_input(1));
  if (!op.axes_are_input && op.axes) given = *op.axes;
  if (given.empty() && op.none_for_empty_axes) node.fail("it reduces no axis");
  const ops::AxisMask mask = op.reduced(given, x.shape.rank());
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < mask.size(); ++axis) {
    if (given.empty() || mask[axis]) axes.push_back(static_cast<int64_t>(axis));
  }
  to.give(node, to.reduce(mil, x, axes, op.keep_dims));
}

Support check_extreme_index(const NodeView& node) {
  if (!ops::ArgReduce::read(node).select_last) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "of equal elements it gives the last");
}

void lower_extreme_index(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::ArgReduce op = ops::ArgReduce::read(node);
  const Mil x = to.input(node, 0);
  const int axis = normalize_axis(op.axis, x.shape.rank());
  const Arguments arguments = {{"x", x}, {"axis", to.program.number(axis)}, {"keep_dims", to.program.flag(op.keep_dims)}};
  to.give(node, to.program.op(mil, arguments, DType::int32, to.output_shape(node)));
}

Support check_cumulative_sum(const NodeView& node) {
  if (node.constant_input(1)) return {};
  return refuse(RhRefusalCode_SHAPE, "its axis is known in a run alone");
}

void lower_cumulative_sum(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Cumulative op = ops::Cumulative::read(node);
  const Mil x = to.input(node, 0);
  const int axis = normalize_axis(element_as_int(node.constant_input(1)->view(), 0), x.shape.rank());
  const Arguments arguments = {
      {"x", x}, {"axis", to.program.number(axis)}, {"exclusive", to.program.flag(op.exclusive)}, {"reverse", to.program.flag(op.reverse)}};
  to.give(node, to.program.op(mil, arguments, x.dtype, x.shape));
}

}  // namespace rh::coreml
