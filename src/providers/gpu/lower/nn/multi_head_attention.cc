#include "ops/nn/multi_head_attention.h"
#include "ops/nn/attention.h"

#include <cmath>

#include "providers/gpu/lower/nn/attention.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/lower/tensor/move.h"
#include "providers/gpu/plan/strides.h"

namespace rh::gpu {

namespace {

/// Keys or values [batch, heads, length, depth], or of three dimensions by the number of their heads.
Matrices matrices_by_heads(const Shape& shape, int64_t heads) {
  return shape.rank() == 4 ? matrices_of(shape) : matrices_of_heads(shape, heads);
}

/// Where a past is given, or the present wanted: the past and the new rows in the present, of which attention then reads.
void append(Lowering& lowering, ValueId past, ValueId present, ValueId& now, Matrices& at) {
  if (present == kNoValue) return;
  const Shape shape = lowering.shape(present), strides = strides_of(shape);
  const int64_t before = past == kNoValue ? 0 : lowering.shape(past)[2];
  if (before > 0) {
    const Shape from = lowering.shape(past);
    lower_move(lowering, {.from = past, .to = present, .shape = from, .from_strides = strides_of(from), .to_strides = strides});
  }
  lower_move(lowering, {.from = now,
                        .to = present,
                        .shape = {at.batch, at.heads, at.rows, at.columns},
                        .from_strides = {at.batch_stride, at.head_stride, at.row_stride, 1},
                        .to_strides = strides,
                        .to_offset = before * at.columns});
  now = present;
  at = matrices_of(shape);
}

struct Inputs {
  int mask, past_key, past_value;
};

void lower(const NodeView& node, Lowering& lowering, const Inputs& inputs, AttentionCall call) {
  const auto input = [&](int i) { return node.has_input(i) ? node.node().inputs[static_cast<size_t>(i)] : kNoValue; };
  const auto output = [&](int i) { return node.has_output(i) ? node.node().outputs[static_cast<size_t>(i)] : kNoValue; };
  if (input(inputs.past_key) != kNoValue) call.arguments.past = lowering.shape(input(inputs.past_key))[2];
  append(lowering, input(inputs.past_key), output(1), call.k, call.k_at);
  append(lowering, input(inputs.past_value), output(2), call.v, call.v_at);
  if (node.has_input(inputs.mask)) {
    call.mask = input(inputs.mask);
    call.mask_strides = broadcast_strides(lowering.shape(call.mask), {call.y_at.batch, call.y_at.heads, call.y_at.rows, call.v_at.rows});
  }
  if (call.arguments.scale == 0) call.arguments.scale = 1 / std::sqrt(static_cast<float>(call.q_at.columns));
  lower_attention_call(lowering, std::move(call));
}

/// What the two operators have alike that their kernel does not take.
kit::Support check(const NodeView& node, const Inputs& inputs) {
  if (node.has_output(3)) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of {} gives no scores", node.op_type());
  if (!node.has_input(1) || !node.has_input(2)) {
    return kit::refuse(RhRefusalCode_SHAPE, "its kernel of {} takes queries, keys and values apart", node.op_type());
  }
  if (node.has_input(inputs.past_key) && (!node.has_output(1) || !node.has_output(2))) {
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of {} takes a past where it gives the present", node.op_type());
  }
  return require_types(node, 0, {DType::float32, DType::float16, DType::bfloat16});
}

constexpr Inputs kStandard = {3, 4, 5}, kContrib = {5, 6, 7};

}  // namespace

kit::Support supports_attention(const NodeView& node) {
  const ops::Attention op = ops::Attention::read(node);
  if (node.has_input(6)) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of Attention takes no numbers of valid keys");
  if (op.left_window >= 0 || op.right_window >= 0) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of Attention has no windows");
  if (node.has_input(3) && node.input_type(3).tensor().dims->back() == Dim(1)) {
    return kit::refuse(RhRefusalCode_SHAPE, "its kernel of Attention takes masks for all keys");
  }
  return check(node, kStandard);
}

void lower_attention(const NodeView& node, Lowering& lowering) {
  const ops::Attention op = ops::Attention::read(node);
  AttentionCall call{.q = node.node().inputs[0], .k = node.node().inputs[1], .v = node.node().inputs[2], .y = node.node().outputs[0]};
  const Shape q = lowering.shape(call.q);
  const int64_t q_heads = q.rank() == 4 ? q[1] : op.q_heads;
  call.q_at = matrices_by_heads(q, q_heads);
  call.k_at = matrices_by_heads(lowering.shape(call.k), op.kv_heads);
  call.v_at = matrices_by_heads(lowering.shape(call.v), op.kv_heads);
  call.y_at = matrices_by_heads(lowering.shape(call.y), q_heads);
  call.arguments.scale = op.scale.value_or(0);
  call.arguments.softcap = op.softcap;
  call.arguments.masked_rows_are_zero = 1;
  call.arguments.left_window = -1;
  call.arguments.right_window = op.is_causal ? 0 : -1;
  lower(node, lowering, kStandard, std::move(call));
}

kit::Support supports_multi_head_attention(const NodeView& node) {
  constexpr std::pair<int, std::string_view> kLeft[] = {
      {3, "bias"}, {4, "key padding mask"}, {8, "length of the past"}, {9, "indirection"}};
  for (const auto& [input, what] : kLeft) {
    if (node.has_input(input)) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of MultiHeadAttention takes no {}", what);
  }
  if (rank_of(node, 0) != 3) return kit::refuse(RhRefusalCode_SHAPE, "its kernel of MultiHeadAttention takes queries of three dimensions");
  return check(node, kContrib);
}

void lower_multi_head_attention(const NodeView& node, Lowering& lowering) {
  const ops::MultiHeadAttention op = ops::MultiHeadAttention::read(node);
  AttentionCall call{.q = node.node().inputs[0], .k = node.node().inputs[1], .v = node.node().inputs[2], .y = node.node().outputs[0]};
  call.q_at = matrices_of_heads(lowering.shape(call.q), op.heads);
  call.k_at = matrices_by_heads(lowering.shape(call.k), op.heads);
  call.v_at = matrices_by_heads(lowering.shape(call.v), op.heads);
  call.y_at = matrices_of_heads(lowering.shape(call.y), op.heads);
  call.arguments.scale = op.scale.value_or(0);
  call.arguments.left_window = -1;
  call.arguments.right_window = op.is_causal ? 0 : -1;
  lower(node, lowering, kContrib, std::move(call));
}

}  // namespace rh::gpu
