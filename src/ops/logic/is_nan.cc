#include "ops/logic/is_nan.h"

#include "ops/registry.h"

namespace rh::ops {

IsNaN IsNaN::read(const NodeView& node) {
  return {.nan = node.op_type() == "IsNaN", .negative = node.flag("detect_negative", true), .positive = node.flag("detect_positive", true)};
}

void infer(const IsNaN&, InferenceContext& context) { context.set_output(0, DType::boolean, context.input_tensor(0).dims); }

}  // namespace rh::ops

RH_DEFINE_OP(IsNaN)
