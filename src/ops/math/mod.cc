#include "ops/math/mod.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const Mod& op, InferenceContext& context) {
  if (!op.fmod && is_floating(context.input_dtype(0)) && context.node().opset() < 28) {
    context.node().fail("fmod is 0, expected 1 for element type {}", to_string(context.input_dtype(0)));
  }
  infer_binary(context, {});
  infer_contents(context, 2, [&](std::span<const Dim> x) {
    const bool same_rounding = is_non_negative(x[0]) && is_non_negative(x[1]);
    return !op.fmod || same_rounding ? Dim::apply(Dim::Function::mod, x[0], x[1]) : Dim();
  });
}

}  // namespace rh::ops

RH_DEFINE_OP(Mod)
