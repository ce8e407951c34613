#include <cmath>

#include "ops/nn/attention.h"
#include "providers/gpu/lower/nn/attention.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/strides.h"

namespace rh::gpu {

namespace {

constexpr int kStandardMask = 3, kStandardPast = 4;  // inputs; the values' past stands behind the keys'

/// [batch, heads, length, depth], or three dimensions by the number of heads.
Heads heads_of(const NodeView& node, const Lowering& lowering, int input, int64_t heads) {
  const ValueId value = node.node().inputs[static_cast<size_t>(input)];
  const Shape shape = lowering.shape(value);
  return {value, shape.rank() == 4 ? matrices_of(shape) : matrices_of_heads(shape, heads)};
}

/// Keys (1) or values (2) behind their past, where there is one, or the present is wanted.
void append(const NodeView& node, Lowering& lowering, int input, Heads& heads, Sequences& sequences) {
  const int past = kStandardPast + input - 1;
  if (!node.has_input(past) && !node.has_output(input)) return;
  HeadCache cache{.past = input_of(node, past), .present = output_of(node, input)};
  sequences.added = heads.at.rows;
  if (node.has_input(past)) {
    const Shape shape = lowering.shape(cache.past);
    check_past(node, past, shape, heads);
    cache.past_capacity = sequences.past = shape[2];
  }
  sequences.capacity = sequences.past + sequences.added;
  cache.sequences = sequences;
  append_heads(lowering, cache, heads);
}

void set_mask(const NodeView& node, const Lowering& lowering, bool pads, AttentionCall& call) {
  if (!node.has_input(kStandardMask)) return;
  call.mask = input_of(node, kStandardMask);
  const Shape mask = lowering.shape(call.mask);
  Shape scores{call.y_at.batch, call.y_at.heads, call.y_at.rows, call.v.at.rows};
  if (const int64_t columns = mask[mask.rank() - 1]; columns < scores[3] && (pads || columns != 1)) {  // keys behind those are not seen
    scores[3] = call.k.at.rows = call.v.at.rows = columns;
  }
  if (!(broadcast(mask, scores) == scores)) {
    node.fail("the mask has shape {}, expected one that broadcasts to {}", mask.to_string(), scores.to_string());
  }
  call.mask_strides = broadcast_strides(mask, scores);
}

}  // namespace

kit::Support supports_attention(const NodeView& node) {
  if (node.has_input(6)) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of Attention takes no numbers of valid keys");
  if (node.has_output(3)) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of Attention gives no scores");
  for (const int i : {1, 2, 4, 5}) {
    if (node.has_input(i) && dtype_of_input(node, i) != dtype_of_input(node, 0)) {
      return kit::refuse(RhRefusalCode_TYPE, "its kernel of Attention takes input {} of the type of the queries", i);
    }
  }
  if (node.has_input(kStandardMask)) {
    const DType mask = dtype_of_input(node, kStandardMask);
    if (mask != DType::boolean && mask != dtype_of_input(node, 0)) {
      return kit::refuse(RhRefusalCode_TYPE, "its kernel of Attention takes a mask of bool or of the type of the queries");
    }
  }
  return require_types(node, 0, {DType::float32, DType::float16, DType::bfloat16});
}

void lower_attention(const NodeView& node, Lowering& lowering) {
  const ops::Attention op = ops::Attention::read(node);
  AttentionCall call{.q = heads_of(node, lowering, 0, op.q_heads),
                     .k = heads_of(node, lowering, 1, op.kv_heads),
                     .v = heads_of(node, lowering, 2, op.kv_heads),
                     .y = node.node().outputs[0]};
  const Shape y = lowering.shape(call.y);
  call.y_at = y.rank() == 4 ? matrices_of(y) : matrices_of_heads(y, op.q_heads);
  append(node, lowering, 1, call.k, call.sequences);
  append(node, lowering, 2, call.v, call.sequences);
  set_mask(node, lowering, op.pads_mask, call);
  call.arguments.scale = op.scale.value_or(1 / std::sqrt(static_cast<float>(std::max<int64_t>(1, call.q.at.columns))));
  call.arguments.softcap = op.softcap;
  call.arguments.masked_rows_are_zero = 1;
  call.arguments.left_window = op.left_window;
  call.arguments.right_window = op.is_causal ? 0 : op.right_window;
  lower_attention_call(lowering, std::move(call));
}

}  // namespace rh::gpu
