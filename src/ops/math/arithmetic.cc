#include "ops/math/arithmetic.h"

#include "ops/registry.h"

namespace rh::ops {

namespace {

using F = Arithmetic::Function;
constexpr OpName<F> kNames[] = {{"Add", F::add}, {"Sub", F::sub}, {"Mul", F::mul}, {"Div", F::div}};

Dim apply(F function, const Dim& a, const Dim& b) {
  switch (function) {
    case F::add: return a + b;
    case F::sub: return a - b;
    case F::mul: return a * b;
    default: return truncating_division(a, b);
  }
}

}  // namespace

Arithmetic Arithmetic::read(const NodeView& node) { return {enumerator_of(node, kNames), LegacyBroadcast::read(node)}; }

void infer(const Arithmetic& op, InferenceContext& context) {
  infer_binary(context, op.legacy);
  infer_contents(context, 2, [&](std::span<const Dim> x) { return apply(op.function, x[0], x[1]); });
}

}  // namespace rh::ops

RH_DEFINE_OP(Arithmetic)
