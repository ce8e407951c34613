#include "ops/logic/where.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const Where&, InferenceContext& context) {
  const DType dtype = context.input_dtype(1) != DType::undefined ? context.input_dtype(1) : context.input_dtype(2);
  context.set_broadcast_output(0, dtype, 0, 3);
  infer_contents(context, 3, [](std::span<const Dim> x) {
    if (x[0].is_constant()) return x[0].is_constant(0) ? x[2] : x[1];
    return x[1] == x[2] ? x[1] : Dim();
  });
}

}  // namespace rh::ops

RH_DEFINE_OP(Where)
