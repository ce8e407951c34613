#include "ops/logic/not.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const Not&, InferenceContext& context) {
  infer_same(context);
  if (context.input_dtype(0) != DType::boolean) return;
  infer_contents(context, 1, [](std::span<const Dim> x) { return Dim(1) - x[0]; });
}

}  // namespace rh::ops

RH_DEFINE_OP(Not)
