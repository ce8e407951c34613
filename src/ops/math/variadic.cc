#include "ops/math/variadic.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

using F = Variadic::Function;
constexpr OpName<F> kNames[] = {{"Max", F::max}, {"Min", F::min}, {"Sum", F::sum}, {"Mean", F::mean}};

}  // namespace

Variadic Variadic::read(const NodeView& node) { return {enumerator_of(node, kNames)}; }

void infer(const Variadic& op, InferenceContext& context) {
  context.set_broadcast_output(0, context.input_dtype(0), 0, context.input_count());
  if (op.function == F::mean) return;
  infer_contents(context, context.input_count(), [&](std::span<const Dim> x) {
    Dim result = x[0];
    for (size_t i = 1; i < x.size(); ++i) {
      if (op.function == F::sum) {
        result = result + x[i];
      } else {
        const bool less = less_contents(result, x[i]).is_constant(1), not_less = less_contents(x[i], result + Dim(1)).is_constant(1);
        const bool is_max = op.function == F::max;
        if (less) {
          if (is_max) result = x[i];
        } else if (not_less) {
          if (!is_max) result = x[i];
        } else {
          result = Dim::apply(is_max ? Dim::Function::max : Dim::Function::min, result, x[i]);
        }
      }
    }
    return result;
  });
}

}  // namespace rh::ops

RH_DEFINE_OP(Variadic)
