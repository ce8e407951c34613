#include "ops/quant/qlinear_conv.h"

#include "ops/nn/filters.h"
#include "ops/registry.h"

namespace rh::ops {

QLinearConv QLinearConv::read(const NodeView& node) {
  const bool both = node.flag("channels_last");
  QLinearConv op{.group = read_group(node),
                 .integer = node.op_type() == "ConvInteger",
                 .x_channels_last = both || node.flag("x_channels_last"),
                 .y_channels_last = both || node.flag("y_channels_last")};
  op.window = read_filter_window(node, op.weights());
  return op;
}

void infer(const QLinearConv& op, InferenceContext& context) {
  const DType dtype = op.integer ? DType::int32 : context.input_dtype(7);
  context.set_output(0, dtype, filtered_shape(op.window, op.group, context, op.weights(), op.x_channels_last, op.y_channels_last));
}

}  // namespace rh::ops

RH_DEFINE_OP(QLinearConv)
