#include <limits>

#include "ops/math/clip.h"
#include "providers/coreml/lowerings.h"

namespace rh::coreml {

void lower_unary(Lowering& to, const NodeView& node, std::string_view mil) { to.give(node, to.unary(mil, to.input(node, 0))); }

void lower_negation(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.input(node, 0);
  to.give(node, to.binary(mil, x, to.real(-1, x)));
}

// MIL's own inverse adds a small number to what it divides by.
void lower_reciprocal(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.input(node, 0);
  to.give(node, to.binary(mil, to.real(1, x), x));
}

void lower_binary(Lowering& to, const NodeView& node, std::string_view mil) {
  to.give(node, to.binary(mil, to.input(node, 0), to.input(node, 1)));
}

void lower_comparison(Lowering& to, const NodeView& node, std::string_view mil) {
  to.give(node, to.compare(mil, to.as_number(to.input(node, 0)), to.as_number(to.input(node, 1))));
}

void lower_power(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil x = to.input(node, 0);
  to.give(node, to.binary(mil, x, to.program.cast(to.input(node, 1), x.dtype)));
}

void lower_variadic(Lowering& to, const NodeView& node, std::string_view mil) {
  Mil result = to.input(node, 0);
  for (int i = 1; i < node.input_count(); ++i) result = to.binary(mil, result, to.input(node, i));
  if (node.op_type() == "Mean") result = to.binary("real_div", result, to.real(node.input_count(), result));
  to.give(node, result);
}

// give() casts to the type of the node's output.
void lower_cast(Lowering& to, const NodeView& node, std::string_view) { to.give(node, to.input(node, 0)); }

void lower_choice(Lowering& to, const NodeView& node, std::string_view mil) {
  const Mil condition = to.input(node, 0), a = to.input(node, 1), b = to.input(node, 2);
  const Shape shape = broadcast(condition.shape, broadcast(a.shape, b.shape));
  to.give(node, to.program.op(mil, {{"cond", condition}, {"a", a}, {"b", b}}, a.dtype, shape));
}

// Bounds that only a run tells are no arguments of MIL's clip, and a lower one above the upper one has no meaning there.
void lower_clip(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::Clip op = ops::Clip::read(node);
  Mil x = to.input(node, 0);
  const auto bound = [&](int i, const std::optional<float>& attribute) -> std::optional<Mil> {
    if (!op.bounds_are_inputs) return attribute ? std::optional(to.real(*attribute, x)) : std::nullopt;
    return node.has_input(i) ? std::optional(to.input(node, i)) : std::nullopt;
  };
  const std::optional<Mil> least = bound(1, op.min), most = bound(2, op.max);
  const auto number = [&](int i, const std::optional<float>& attribute) {
    if (!op.bounds_are_inputs) return static_cast<double>(attribute.value_or(std::numeric_limits<float>::quiet_NaN()));
    const Tensor* constant = node.has_input(i) ? node.constant_input(i) : nullptr;
    return constant && constant->elements() == 1 ? element_as_double(constant->view(), 0) : std::numeric_limits<double>::quiet_NaN();
  };
  const double low = number(1, op.min), high = number(2, op.max);
  if (low <= high) {
    return to.give(node, to.program.op(mil, {{"x", x}, {"alpha", to.real(low, x)}, {"beta", to.real(high, x)}}, x.dtype, x.shape));
  }
  if (least) x = to.binary("maximum", x, *least);
  if (most) x = to.binary("minimum", x, *most);
  to.give(node, x);
}

}  // namespace rh::coreml
