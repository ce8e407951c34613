#include "ops/nn/fused_attention.h"

#include "providers/gpu/lower/nn/attention.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/strides.h"

namespace rh::gpu {

kit::Support supports_fused_attention(const NodeView& node) { return require_types(node, 0, {DType::float32}); }

void lower_fused_attention(const NodeView& node, Lowering& lowering) {
  const ops::FusedAttention op = ops::FusedAttention::read(node);
  const std::vector<ValueId>& inputs = node.node().inputs;
  AttentionCall call{.q = {inputs[0]}, .k = {inputs[1]}, .v = {inputs[2]}, .y = node.node().outputs[0]};
  const Shape y = lowering.shape(call.y);
  call.q.at = matrices_of(lowering.shape(call.q.value), op.q_length_first, op.q_part);
  call.k.at = matrices_of(lowering.shape(call.k.value), op.k_length_first, op.k_part);
  call.v.at = matrices_of(lowering.shape(call.v.value), op.v_length_first, op.v_part);
  call.y_at = matrices_of(y, op.output_length_first);
  if (y.rank() == 4 && lowering.shape(call.k.value).rank() == 3) {  // keys of a batch's heads, one after the other
    call.k.at.heads = call.k.at.batch / call.q.at.batch;
    call.k.at.head_stride = call.k.at.batch_stride;
    call.k.at.batch_stride *= call.k.at.heads;
    call.k.at.batch = call.q.at.batch;
  }
  if (op.k_transposed) {
    std::swap(call.k.at.rows, call.k.at.columns);
    std::swap(call.k.at.row_stride, call.k.at.column_stride);
  }
  const Shape scores = y.rank() == 3 ? Shape{call.y_at.batch, call.y_at.rows, call.v.at.rows}
                                     : Shape{call.y_at.batch, call.y_at.heads, call.y_at.rows, call.v.at.rows};
  const auto mask_of = [&](int input, ValueId& mask, Shape& strides) {
    if (!node.has_input(input)) return;
    mask = inputs[static_cast<size_t>(input)];
    strides = broadcast_strides(lowering.shape(mask), scores);
    if (strides.rank() == 3) strides = {strides[0], 0, strides[1], strides[2]};
  };
  mask_of(3, call.mask, call.mask_strides);
  mask_of(4, call.key_mask, call.key_mask_strides);
  call.arguments.scale = op.scale;
  call.arguments.softcap = op.softcap;
  call.arguments.masked = ops::FusedAttention::kMasked;
  call.arguments.masked_score = op.masked_score.value_or(0);
  call.arguments.replaces_masked = op.masked_score ? 1 : 0;
  call.arguments.masked_is_zero = op.masked_is_zero ? 1 : 0;
  call.arguments.nan_is_zero = op.nan_is_zero ? 1 : 0;
  call.arguments.left_window = call.arguments.right_window = -1;
  lower_attention_call(lowering, std::move(call));
}

}  // namespace rh::gpu
