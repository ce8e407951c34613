#include "ops/nn/normalization.h"

#include "ops/nn/softmax.h"
#include "providers/coreml/lowerings.h"

namespace rh::coreml {

namespace {

using kit::Support, kit::refuse;

/// A value of one number for each channel, as it is broadcast along dimension 1.
Mil along_channels(Lowering& to, const Mil& value, int rank) {
  Shape shape(static_cast<size_t>(rank) - 1, 1);
  shape[0] = value.shape[0];
  return to.reshape(value, shape);
}

/// One number for each channel of one for each group.
Mil repeated(Lowering& to, const Mil& value, int64_t times) {
  const int64_t groups = value.shape[0];
  const Mil rows = to.reshape(value, {groups, 1});
  const Mil tiled =
      to.program.op("tile", {{"x", rows}, {"reps", to.program.ints(std::vector<int64_t>{1, times})}}, value.dtype, {groups, times});
  return to.reshape(tiled, {groups * times});
}

Mil normalized(Lowering& to, const Mil& x, std::span<const int64_t> axes, float epsilon) {
  return to.program.op("layer_norm", {{"x", x}, {"axes", to.program.ints(axes)}, {"epsilon", to.real(epsilon, x)}}, x.dtype, x.shape);
}

Support check_rank(const NodeView& node, int most) {
  const int rank = node.input_type(0).tensor().rank();
  if (rank >= 3 && rank <= most) return {};
  return refuse(RhRefusalCode_SHAPE, "input 0 is of rank {}, its operator takes 3 to {}", rank, most);
}

Support check_constants(const NodeView& node, int last) {
  for (int i = 1; i <= last; ++i) {
    if (node.has_input(i) && !node.constant_input(i)) return refuse(RhRefusalCode_SHAPE, "input {} is known in a run alone", i);
  }
  return {};
}

}  // namespace

Support check_batch_normalization(const NodeView& node) {
  if (Support refusal = check_rank(node, 5)) return refusal;
  if (ops::BatchNormalization::read(node).training) return refuse(RhRefusalCode_ATTRIBUTE, "it is in training");
  if (!ops::BatchNormalization::read(node).spatial) return refuse(RhRefusalCode_ATTRIBUTE, "it has parameters for each element");
  return check_constants(node, 4);
}

void lower_batch_normalization(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.input(node, 0);
  const auto given = [&](int i) { return to.program.cast(to.input(node, i), x.dtype); };
  const Arguments arguments = {{"x", x},
                               {"mean", given(3)},
                               {"variance", given(4)},
                               {"gamma", given(1)},
                               {"beta", given(2)},
                               {"epsilon", to.real(ops::BatchNormalization::read(node).epsilon, x)}};
  to.give(node, to.program.op(mil, arguments, x.dtype, x.shape));
}

Support check_group_normalization(const NodeView& node) {
  if (node.op_type() == "GroupNormalization") return {};
  if (Support refusal = check_rank(node, 4)) return refusal;
  return check_constants(node, 2);
}

// What is normalised of a group is one axis, and then of its sizes again.
void lower_group_normalization(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::GroupNormalization op = ops::GroupNormalization::read(node);
  const Mil x = to.input(node, 0);
  Mil scale = to.input(node, 1), bias = to.input(node, 2);
  if (op.groups == 0) {
    const Arguments arguments = {{"x", x}, {"gamma", scale}, {"beta", bias}, {"epsilon", to.real(op.epsilon, x)}};
    return to.give(node, to.program.op(mil, arguments, x.dtype, x.shape));
  }
  const int64_t batch = x.shape[0], channels = x.shape[1], each = x.shape.elements() / (batch * op.groups);
  if (op.per_group_scale) {
    scale = repeated(to, scale, channels / op.groups);
    bias = repeated(to, bias, channels / op.groups);
  }
  const Mil flat = normalized(to, to.reshape(x, {batch, op.groups, each}), std::vector<int64_t>{2}, op.epsilon);
  const Mil scaled = to.binary("mul", to.reshape(flat, x.shape), along_channels(to, scale, x.shape.rank()));
  to.give(node, to.binary("add", scaled, along_channels(to, bias, x.shape.rank())));
}

Support check_layer_normalization(const NodeView& node) {
  if (node.has_output(1) || node.has_output(2))
    return refuse(RhRefusalCode_ATTRIBUTE, "it gives the mean or the deviation, which Core ML does not");
  return {};
}

void lower_layer_normalization(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::LayerNormalization op = ops::LayerNormalization::read(node);
  const Mil x = to.input(node, 0);
  std::vector<int64_t> axes;
  for (int axis = normalize_axis(op.axis, x.shape.rank()); axis < x.shape.rank(); ++axis) axes.push_back(axis);
  const Shape within(x.shape.begin() + axes.front(), x.shape.end());
  if (op.rms) {
    const Mil mean = to.reduce("reduce_mean", to.unary("square", x), axes, true);
    const Mil factor = to.unary("sqrt", to.binary("add", mean, to.real(op.epsilon, x)));
    return to.give(node, to.binary("mul", to.binary("real_div", x, factor), to.input(node, 1)));
  }
  Arguments arguments = {{"x", x}, {"axes", to.program.ints(axes)}, {"epsilon", to.real(op.epsilon, x)}};
  const auto is_argument = [&](int i) {
    const Tensor* constant = node.has_input(i) ? node.constant_input(i) : nullptr;
    return constant && constant->shape() == within && constant->dtype() == x.dtype;
  };
  const bool takes_scale = is_argument(1), takes_bias = takes_scale && is_argument(2);
  if (takes_scale) arguments.emplace_back("gamma", to.input(node, 1));
  if (takes_bias) arguments.emplace_back("beta", to.input(node, 2));
  Mil result = to.program.op(mil, arguments, x.dtype, x.shape);
  if (!takes_scale) result = to.binary("mul", result, to.program.cast(to.input(node, 1), x.dtype));
  if (!takes_bias && node.has_input(2)) result = to.binary("add", result, to.program.cast(to.input(node, 2), x.dtype));
  to.give(node, result);
}

Support check_softmax(const NodeView& node) {
  const ops::Softmax op = ops::Softmax::read(node);
  const int rank = node.input_type(0).tensor().rank();
  if (!op.flatten || normalize_axis(op.axis, rank) == rank - 1) return {};
  return refuse(RhRefusalCode_OPSET, "before opset 13 it is over several dimensions");
}

void lower_softmax(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Softmax op = ops::Softmax::read(node);
  const Mil x = to.input(node, 0);
  const int64_t axis = normalize_axis(op.axis, x.shape.rank());
  if (op.log) return to.give(node, to.binary("sub", x, to.reduce(mil, x, {&axis, 1}, true)));
  to.give(node, to.program.op(mil, {{"x", x}, {"axis", to.program.number(axis)}}, x.dtype, x.shape));
}

Support check_local_response(const NodeView& node) {
  if (Support refusal = check_rank(node, 4)) return refusal;
  const int64_t size = ops::Lrn::read(node).size;
  if (size % 2 == 1) return {};
  return refuse(RhRefusalCode_ATTRIBUTE, "its size {} is even, which has no middle", size);
}

void lower_local_response(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Lrn op = ops::Lrn::read(node);
  const Mil x = to.input(node, 0);
  const Arguments arguments = {{"x", x},
                               {"size", to.program.number(op.size)},
                               {"alpha", to.real(op.alpha, x)},
                               {"beta", to.real(op.beta, x)},
                               {"k", to.real(op.bias, x)}};
  to.give(node, to.program.op(mil, arguments, x.dtype, x.shape));
}

}  // namespace rh::coreml
