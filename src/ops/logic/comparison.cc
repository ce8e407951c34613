#include "ops/logic/comparison.h"

#include "ops/registry.h"

namespace rh::ops {

namespace {

using F = Comparison::Function;
constexpr OpName<F> kNames[] = {{"Equal", F::equal},
                                {"Greater", F::greater},
                                {"Less", F::less},
                                {"GreaterOrEqual", F::greater_or_equal},
                                {"LessOrEqual", F::less_or_equal}};

Dim negated(const Dim& truth) { return Dim(1) - truth; }

Dim compare(F function, const Dim& a, const Dim& b) {
  switch (function) {
    case F::equal: return equal_contents(a, b);
    case F::greater: return less_contents(b, a);
    case F::less: return less_contents(a, b);
    case F::greater_or_equal: return negated(less_contents(a, b));
    default: return negated(less_contents(b, a));
  }
}

}  // namespace

Comparison Comparison::read(const NodeView& node) { return {enumerator_of(node, kNames), LegacyBroadcast::read(node)}; }

void infer(const Comparison& op, InferenceContext& context) {
  infer_binary(context, op.legacy, DType::boolean);
  infer_contents(context, 2, [&](std::span<const Dim> x) { return compare(op.function, x[0], x[1]); });
}

}  // namespace rh::ops

RH_DEFINE_OP(Comparison)
