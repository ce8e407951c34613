#include "ops/math/clip.h"

#include <limits>

#include "ops/elementwise.h"
#include "ops/registry.h"
#include "tensor/dispatch.h"
#include "tensor/narrowed.h"

namespace rh::ops {

Clip Clip::read(const NodeView& node) {
  Clip op;
  op.bounds_are_inputs = node.opset() >= 11;
  if (op.bounds_are_inputs) return op;
  if (node.has("min")) op.min = node.float_or("min", 0);
  if (node.has("max")) op.max = node.float_or("max", 0);
  return op;
}

double Clip::most(DType dtype) const { return largest_finite(bounds_are_inputs ? dtype : DType::float32); }

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::float16: return 65504;
    case DType::bfloat16: return 0x1.FEp127;
    case DType::float64: return std::numeric_limits<double>::max();
    default: return static_cast<double>(std::numeric_limits<float>::max());
  }
}

Tensor clip_bound(DType dtype, double value) {
  Tensor bound(dtype, Shape{});
  dispatch_or_throw<FloatingTypes>(dtype, "Clip", [&]<typename T>() { *bound.data<T>() = narrowed<T>(value); });
  return bound;
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
