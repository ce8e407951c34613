#include "ops/math/clip.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

Clip Clip::read(const NodeView& node) {
  Clip op;
  op.bounds_are_inputs = node.opset() >= 11;
  if (op.bounds_are_inputs) return op;
  if (node.has("min")) op.min = node.float_or("min", 0);
  if (node.has("max")) op.max = node.float_or("max", 0);
  return op;
}

void infer(const Clip& op, InferenceContext& context) {
  infer_same(context);
  if (!op.bounds_are_inputs) return;
  const auto bound = [&](int i) -> std::optional<int64_t> {
    const auto values = context.input_ints(i);
    return values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
  };
  const auto low = bound(1), high = bound(2);
  if ((context.has_input(1) && !low) || (context.has_input(2) && !high)) return;
  infer_contents(context, 1, [&](std::span<const Dim> x) {
    Dim value = x[0];
    if (low && !less_contents(Dim(*low) + Dim(-1), value).is_constant(1)) value = Dim::apply(Dim::Function::max, value, Dim(*low));
    if (high) value = Dim::apply(Dim::Function::min, value, Dim(*high));
    return value;
  });
}

}  // namespace rh::ops

RH_DEFINE_OP(Clip)
