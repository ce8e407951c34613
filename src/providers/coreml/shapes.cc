#include "ops/nn/dropout.h"
#include "ops/tensor/concat.h"
#include "ops/tensor/constant.h"
#include "ops/tensor/constant_of_shape.h"
#include "ops/tensor/pad.h"
#include "ops/tensor/shape.h"
#include "ops/tensor/slice.h"
#include "ops/tensor/split.h"
#include "ops/tensor/transpose.h"
#include "providers/coreml/lowerings.h"

namespace rh::coreml {

namespace {

using kit::Support, kit::refuse;

/// Integers of a node: its attribute, or a constant input.
std::vector<int64_t> ints_of(const NodeView& node, const ops::IntsOperand& operand) {
  if (operand.values) return *operand.values;
  std::vector<int64_t> values;
  const Tensor* constant = operand.input >= 0 && node.has_input(operand.input) ? node.constant_input(operand.input) : nullptr;
  for (int64_t i = 0; constant && i < constant->elements(); ++i) values.push_back(element_as_int(constant->view(), i));
  return values;
}

Support check_known(const NodeView& node, const ops::IntsOperand& operand, const char* what) {
  if (operand.values || operand.input < 0 || !node.has_input(operand.input) || node.constant_input(operand.input)) return {};
  return refuse(RhRefusalCode_SHAPE, "its {} are known in a run alone", what);
}

/// The value repeated along each axis.
Mil tiled(Lowering& to, const Mil& x, const Shape& shape) {
  std::vector<int64_t> times;
  for (size_t i = 0; i < shape.size(); ++i) times.push_back(shape[i] / x.shape[i]);
  return to.program.op("tile", {{"x", x}, {"reps", to.program.ints(times)}}, x.dtype, shape);
}

}  // namespace

void lower_reshape(Lowering& to, const NodeView& node, std::string_view) {
  to.give(node, to.reshape(to.input(node, 0), to.output_shape(node)));
}

void lower_identity(Lowering& to, const NodeView& node, std::string_view) { to.give(node, to.input(node, 0)); }

Support check_dropout(const NodeView& node) {
  if (node.has_output(1)) return refuse(RhRefusalCode_ATTRIBUTE, "it gives a mask");
  if (!node.has_input(2)) return {};
  const Tensor* training = node.constant_input(2);
  if (training && training->dtype() == DType::boolean && training->elements() == 1 && !*training->data<bool>()) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it may be in training");
}

Support check_constant(const NodeView& node) {
  if (!ops::Constant::read(node).sparse) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "it is sparse");
}

void lower_constant(Lowering& to, const NodeView& node, std::string_view) {
  to.give(node, to.program.constant(ops::Constant::read(node).value));
}

void lower_shape(Lowering& to, const NodeView& node, std::string_view) {
  const Shape sizes = to.shape(node.node().inputs[0]);
  const auto [first, last] = ops::Shape::read(node).range(sizes.rank());
  to.give(node, to.program.ints({sizes.begin() + first, static_cast<size_t>(last - first)}));
}

void lower_filled(Lowering& to, const NodeView& node, std::string_view mil) {
  const Tensor value = ops::ConstantOfShape::read(node).value;
  const Mil one = to.as_number(to.program.constant(value.reshaped({})));
  const Shape shape = to.output_shape(node);
  to.give(node, to.program.op(mil, {{"shape", to.program.ints({shape.begin(), shape.end()})}, {"value", one}}, one.dtype, shape));
}

void lower_transpose(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.input(node, 0);
  std::vector<int64_t> order = ops::Transpose::read(node).perm.value_or(std::vector<int64_t>());
  for (int axis = x.shape.rank(); order.size() < x.shape.size();) order.push_back(--axis);
  to.give(node, to.program.op(mil, {{"x", x}, {"perm", to.program.ints(order)}}, x.dtype, to.output_shape(node)));
}

void lower_concat(Lowering& to, const NodeView& node, std::string_view mil) {
  std::vector<Mil> values;
  for (int i = 0; i < node.input_count(); ++i) {
    const Mil value = to.input(node, i);
    if (value.shape.elements() > 0) values.push_back(value);
  }
  if (values.size() == 1) return to.give(node, values.front());
  const Shape shape = to.output_shape(node);
  const int axis = normalize_axis(ops::Concat::read(node).axis, shape.rank());
  const Arguments arguments = {{"values", values}, {"axis", to.program.number(axis)}, {"interleave", to.program.flag(false)}};
  to.give(node, to.program.op(mil, arguments, values.front().dtype, shape));
}

Support check_split(const NodeView& node) {
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) return refuse(RhRefusalCode_SHAPE, "its output {} is left out, whose size is not told", i);
  }
  return check_known(node, ops::Split::read(node).sizes, "sizes");
}

void lower_split(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.input(node, 0);
  const auto axis = static_cast<size_t>(normalize_axis(ops::Split::read(node).axis, x.shape.rank()));
  std::vector<Mil> parts;
  std::vector<int64_t> sizes;
  for (int i = 0; i < node.output_count(); ++i) {
    parts.push_back({{}, x.dtype, to.output_shape(node, i)});
    sizes.push_back(parts.back().shape[axis]);
  }
  if (parts.size() == 1) return to.give(node, x);
  const Arguments arguments = {{"x", x}, {"split_sizes", to.program.ints(sizes)}, {"axis", to.program.number(static_cast<int64_t>(axis))}};
  parts = to.program.ops(mil, arguments, std::move(parts));
  for (size_t i = 0; i < parts.size(); ++i) to.give(node, parts[i], static_cast<int>(i));
}

Support check_slice(const NodeView& node) {
  const ops::Slice op = ops::Slice::read(node);
  const std::pair<const ops::IntsOperand*, const char*> operands[] = {
      {&op.starts, "starts"}, {&op.ends, "ends"}, {&op.axes, "axes"}, {&op.steps, "steps"}};
  for (const auto& [operand, what] : operands) {
    if (Support refusal = check_known(node, *operand, what)) return refusal;
  }
  return {};
}

void lower_slice(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Slice op = ops::Slice::read(node);
  const Mil x = to.input(node, 0);
  const size_t rank = x.shape.size();
  const std::vector<int64_t> starts = ints_of(node, op.starts), ends = ints_of(node, op.ends), steps = ints_of(node, op.steps);
  std::vector<int64_t> axes = ints_of(node, op.axes);
  for (int64_t axis = 0; axes.size() < starts.size(); ++axis) axes.push_back(axis);
  std::vector<int64_t> begin(rank, 0), end(x.shape.begin(), x.shape.end()), stride(rank, 1);
  std::vector<int64_t> to_the_front(rank, 0);  // a slice that goes backwards ends before element 0, which no index says
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(normalize_axis(axes[i], x.shape.rank()));
    stride[axis] = i < steps.size() ? steps[i] : 1;
    const auto [start, count] = ops::slice_range(x.shape[axis], starts[i], ends[i], stride[axis]);
    if (count <= 0) node.fail("axis {} has no elements", axis);
    begin[axis] = start;
    end[axis] = start + (count - 1) * stride[axis] + (stride[axis] > 0 ? 1 : -1);
    to_the_front[axis] = end[axis] < 0;
    end[axis] = std::max<int64_t>(end[axis], 0);
  }
  std::vector<uint8_t> mask(to_the_front.begin(), to_the_front.end());
  Tensor flags(DType::boolean, {static_cast<int64_t>(rank)});
  std::ranges::copy(mask, reinterpret_cast<uint8_t*>(flags.data<bool>()));
  Program& program = to.program;
  const Arguments arguments = {{"x", x},
                               {"begin", program.ints(begin)},
                               {"end", program.ints(end)},
                               {"stride", program.ints(stride)},
                               {"end_mask", program.constant(flags)}};
  to.give(node, program.op(mil, arguments, x.dtype, to.output_shape(node)));
}

void lower_expand(Lowering& to, const NodeView& node, std::string_view) {
  const Shape shape = to.output_shape(node);
  const Mil x = to.input(node, 0);
  Shape grown(shape.size() - x.shape.size(), 1);
  for (const int64_t size : x.shape) grown.push_back(size);
  const Mil same = to.reshape(x, grown);
  to.give(node, grown == shape ? same : tiled(to, same, shape));
}

Support check_tile(const NodeView& node) {
  if (node.constant_input(1)) return {};
  return refuse(RhRefusalCode_SHAPE, "its counts are known in a run alone");
}

void lower_tile(Lowering& to, const NodeView& node, std::string_view) {
  const Mil x = to.input(node, 0);
  const Shape shape = to.output_shape(node);
  to.give(node, shape == x.shape ? x : tiled(to, x, shape));
}

Support check_pad(const NodeView& node) {
  const ops::Pad op = ops::Pad::read(node);
  if (op.mode == ops::Pad::Mode::wrap) return refuse(RhRefusalCode_ATTRIBUTE, "it has mode wrap, which Core ML has not");
  if (Support refusal = check_known(node, op.pads, "pads")) return refusal;
  if (Support refusal = check_known(node, op.axes, "axes")) return refusal;
  if (op.pads.input >= 0 && node.has_input(2) && !node.constant_input(2))
    return refuse(RhRefusalCode_SHAPE, "its value is known in a run alone");
  const std::vector<int64_t> pads = ints_of(node, op.pads), axes = ints_of(node, op.axes);
  const int rank = node.input_type(0).tensor().rank();
  const size_t n = pads.size() / 2;
  for (size_t i = 0; i < pads.size(); ++i) {
    if (pads[i] < 0) return refuse(RhRefusalCode_ATTRIBUTE, "pads has {}: Core ML pads, and cuts nothing off", pads[i]);
    const int64_t axis = axes.empty() ? static_cast<int64_t>(i % n) : normalize_axis(axes[i % n], rank);
    if (op.mode != ops::Pad::Mode::constant && pads[i] > 0 && axis < rank - 2) {
      return refuse(RhRefusalCode_ATTRIBUTE, "its mode is for the last two axes, and it pads axis {}", axis);
    }
  }
  return {};
}

void lower_pad(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Pad op = ops::Pad::read(node);
  const Mil x = to.input(node, 0);
  const std::vector<int64_t> pads = ints_of(node, op.pads), axes = ints_of(node, op.axes);
  const size_t n = pads.size() / 2;
  std::vector<int64_t> pairs(2 * x.shape.size(), 0);
  for (size_t i = 0; i < n; ++i) {
    const size_t axis = axes.empty() ? i : static_cast<size_t>(normalize_axis(axes[i], x.shape.rank()));
    pairs[2 * axis] = pads[i];
    pairs[2 * axis + 1] = pads[n + i];
  }
  const bool is_constant = op.mode == ops::Pad::Mode::constant;
  if (!is_constant && x.shape.size() > 2) pairs.erase(pairs.begin(), pairs.end() - 4);
  double value = op.value;
  if (op.pads.input >= 0 && node.has_input(2) && node.constant_input(2)->elements() > 0)
    value = element_as_double(node.constant_input(2)->view(), 0);
  const Arguments arguments = {{"x", x},
                               {"pad", to.program.ints(pairs)},
                               {"mode", to.program.text(is_constant                          ? "constant"
                                                        : op.mode == ops::Pad::Mode::reflect ? "reflect"
                                                                                             : "replicate")},
                               {"constant_val", to.real(value, x)}};
  to.give(node, to.program.op(mil, arguments, x.dtype, to.output_shape(node)));
}

}  // namespace rh::coreml
