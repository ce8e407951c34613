#include "ops/math/unary.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

using F = Unary::Function;
constexpr OpName<F> kNames[] = {
    {"Abs", F::abs},     {"Neg", F::neg},     {"Sign", F::sign}, {"Reciprocal", F::reciprocal},
    {"Sqrt", F::sqrt},   {"Exp", F::exp},     {"Log", F::log},   {"Floor", F::floor},
    {"Ceil", F::ceil},   {"Round", F::round}, {"Sin", F::sin},   {"Cos", F::cos},
    {"Tan", F::tan},     {"Asin", F::asin},   {"Acos", F::acos}, {"Atan", F::atan},
    {"Sinh", F::sinh},   {"Cosh", F::cosh},   {"Tanh", F::tanh}, {"Asinh", F::asinh},
    {"Acosh", F::acosh}, {"Atanh", F::atanh}, {"Erf", F::erf},   {"Sigmoid", F::sigmoid},
};

}  // namespace

Unary Unary::read(const NodeView& node) { return {enumerator_of(node, kNames)}; }

void infer(const Unary& op, InferenceContext& context) {
  infer_same(context);
  infer_contents(context, 1, [&](std::span<const Dim> x) {
    if (op.function == F::neg) return Dim(0) - x[0];
    if (op.function == F::abs && is_non_negative(x[0])) return x[0];
    if (op.function == F::abs && x[0].is_constant()) return Dim(0) - x[0];
    return Dim();
  });
}

}  // namespace rh::ops

RH_DEFINE_OP(Unary)
