#include "ops/nn/conv.h"

#include "ops/nn/filters.h"
#include "ops/registry.h"

namespace rh::ops {

Conv Conv::read(const NodeView& node) {
  return {.window = read_filter_window(node, 1), .group = read_group(node), .activation = FusedActivation::read(node)};
}

void infer(const Conv& op, InferenceContext& context) {
  context.set_output(0, context.input_dtype(0), filtered_shape(op.window, op.group, context, 1));
}

}  // namespace rh::ops

RH_DEFINE_OP(Conv)
