#include "ops/nn/deform_conv.h"

#include "ops/registry.h"

namespace rh::ops {

DeformConv DeformConv::read(const NodeView& node) {
  const DeformConv op{.window = read_filter_window(node, 1), .group = read_group(node), .offset_group = node.int_or("offset_group", 1)};
  if (op.offset_group < 1) node.fail("offset_group is {}, expected at least 1", op.offset_group);
  return op;
}

void infer(const DeformConv& op, InferenceContext& context) {
  context.set_output(0, context.input_dtype(0), filtered_shape(op.window, op.group, context, 1));
}

}  // namespace rh::ops

RH_DEFINE_OP(DeformConv)
