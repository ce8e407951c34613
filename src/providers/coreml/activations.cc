#include "ops/activation/activation.h"
#include "providers/coreml/lowerings.h"

namespace rh::coreml {

namespace {

using Function = ops::Activation::Function;
using kit::Support, kit::refuse;

/// The slopes of PRelu as MIL takes them: constants, one for each channel.
const Tensor* channel_slopes(const NodeView& node) {
  const Tensor* slopes = node.constant_input(1);
  const TensorType& x = node.input_type(0).tensor();
  if (!slopes || x.rank() != 4) return nullptr;
  const Shape& shape = slopes->shape();
  const Dim& channels = (*x.dims)[1];
  if (shape.rank() != x.rank() - 1 && shape.rank() != x.rank()) return nullptr;
  const size_t axis = static_cast<size_t>(shape.rank() - x.rank() + 1);
  return channels.is_constant(shape[axis]) && shape.elements() == shape[axis] ? slopes : nullptr;
}

}  // namespace

Support check_activation(const NodeView& node) {
  switch (ops::Activation::read(node).function) {
    case Function::shrink:
    case Function::parametric_softplus:
    case Function::scaled_tanh: return refuse(RhRefusalCode_ATTRIBUTE, "Core ML has no operator like it");
    default: return {};
  }
}

void lower_activation(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Activation op = ops::Activation::read(node);
  const Mil x = to.input(node, 0);
  const auto with = [&](const Mil& of, std::string_view name, const Mil& argument) {
    return to.program.op(mil, {{"x", of}, {name, argument}}, of.dtype, of.shape);
  };
  const auto times = [&](const Mil& a, const Mil& b) { return to.binary("mul", a, b); };
  switch (op.function) {
    case Function::elu:
    case Function::leaky_relu: return to.give(node, with(x, "alpha", to.real(op.alpha, x)));
    case Function::selu: return to.give(node, times(with(x, "alpha", to.real(op.alpha, x)), to.real(op.beta, x)));
    case Function::celu: {
      const Mil scale = to.real(op.alpha, x);
      return to.give(node, times(with(to.binary("real_div", x, scale), "alpha", to.real(1, x)), scale));
    }
    case Function::hard_sigmoid:
    case Function::hard_swish: {
      const bool is_swish = op.function == Function::hard_swish;
      const Mil alpha = to.real(is_swish ? 1.0 / 6 : op.alpha, x), beta = to.real(is_swish ? 0.5 : op.beta, x);
      const Mil gate = to.program.op(mil, {{"x", x}, {"alpha", alpha}, {"beta", beta}}, x.dtype, x.shape);
      return to.give(node, is_swish ? times(x, gate) : gate);
    }
    case Function::gelu:
    case Function::gelu_tanh:
      return to.give(node, with(x, "mode", to.program.text(op.function == Function::gelu ? "EXACT" : "TANH_APPROXIMATION")));
    case Function::mish: return to.give(node, times(x, to.unary("tanh", to.unary(mil, x))));
    case Function::swish: {
      const Mil scaled = op.alpha == 1 ? x : times(x, to.real(op.alpha, x));
      return to.give(node, times(x, to.unary(mil, scaled)));
    }
    // MIL's own operator lets a value pass that is the threshold itself.
    case Function::thresholded_relu: {
      const Mil passes = to.compare("greater", x, to.real(op.alpha, x));
      return to.give(node, to.program.op(mil, {{"cond", passes}, {"a", x}, {"b", to.real(0, x)}}, x.dtype, x.shape));
    }
    default: return to.give(node, to.unary(mil, x));
  }
}

void lower_slopes(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.input(node, 0);
  if (const Tensor* slopes = channel_slopes(node)) {
    const Mil alpha = to.program.constant(slopes->reshaped({slopes->elements()}));
    return to.give(node, to.program.op(mil, {{"x", x}, {"alpha", alpha}}, x.dtype, x.shape));
  }
  const Mil slope = to.input(node, 1), zero = to.real(0, x);
  const Mil below = to.binary("mul", to.binary("minimum", x, zero), slope);
  to.give(node, to.binary("add", to.unary("relu", x), below));
}

}  // namespace rh::coreml
