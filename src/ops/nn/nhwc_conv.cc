#include "ops/nn/nhwc_conv.h"

#include "ops/nn/filters.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const NhwcConv& op, InferenceContext& context) {
  context.set_output(0, context.input_dtype(0), filtered_shape(op.conv.window, op.conv.group, context, 1, !op.from_planes, true));
}

}  // namespace rh::ops

RH_DEFINE_OP(NhwcConv)
