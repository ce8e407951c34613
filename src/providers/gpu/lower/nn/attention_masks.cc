#include "providers/gpu/lower/nn/attention_masks.h"

#include "providers/gpu/plan/strides.h"

namespace rh::gpu {

namespace {

void set_mask(const NodeView& node, const Lowering& lowering, int input, AttentionCall& call) {
  const ValueId mask = node.node().inputs[static_cast<size_t>(input)];
  const Shape shape = lowering.shape(mask);
  const int64_t batch = call.y_at.batch, queries = call.y_at.rows, keys = call.v.at.rows;
  if (shape.rank() == 1 && (shape[0] == batch || shape[0] == 2 * batch || shape[0] == 3 * batch + 2)) {
    call.ranges = mask;
    call.arguments.has_starts = shape[0] == 2 * batch ? 1 : 0;
    return;
  }
  if (shape == Shape{batch, 1} && keys != 1) return;  // stands for no mask
  call.mask = mask;
  if (shape == Shape{batch, keys}) {
    call.mask_strides = {keys, 0, 0, 1};
  } else if (shape == Shape{batch, queries, keys}) {
    call.mask_strides = {queries * keys, 0, keys, 1};
  } else if (shape.rank() == 4 && shape == Shape{batch, 1, shape[2], shape[2]} && shape[2] >= keys &&
             call.sequences.past + queries <= shape[2]) {
    call.mask_strides = {shape[2] * shape[2], 0, shape[2], 1};
    call.first_mask = call.sequences.past * shape[2];
  } else {
    node.fail("input {}, the mask, has shape {}, which does not fit {} sequences of {} queries and {} keys", input, shape.to_string(),
              batch, queries, keys);
  }
}

}  // namespace

void set_masks(const NodeView& node, const Lowering& lowering, const ContribMasks& masks, AttentionCall& call) {
  call.arguments.hidden = masks.hidden;
  if (masks.mask >= 0 && node.has_input(masks.mask)) set_mask(node, lowering, masks.mask, call);
  if (masks.bias < 0 || !node.has_input(masks.bias)) return;
  call.key_mask = node.node().inputs[static_cast<size_t>(masks.bias)];
  const Shape shape = lowering.shape(call.key_mask), scores{call.y_at.batch, call.y_at.heads, call.y_at.rows, call.v.at.rows};
  const bool fits = shape.rank() == 4 && (shape[0] == 1 || shape[0] == scores[0]) && (shape[1] == 1 || shape[1] == scores[1]) &&
                    shape[2] == scores[2] && shape[3] == scores[3];
  if (!fits) node.fail("input {}, added to scores, has shape {}, which does not fit {}", masks.bias, shape.to_string(), scores.to_string());
  call.key_mask_strides = broadcast_strides(shape, scores);
}

}  // namespace rh::gpu
