#include "ops/math/pow.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const Pow& op, InferenceContext& context) {
  infer_binary(context, op.legacy, context.input_dtype(0));
  infer_contents(context, 2, [](std::span<const Dim> x) {
    if (!x[1].is_constant() || x[1].value() < 0 || x[1].value() > 62) return Dim();
    Dim result(1);
    for (int64_t i = 0; i < x[1].value(); ++i) result = result * x[0];
    return result;
  });
}

}  // namespace rh::ops

RH_DEFINE_OP(Pow)
