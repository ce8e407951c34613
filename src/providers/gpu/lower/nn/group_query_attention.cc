#include "ops/nn/group_query_attention.h"

#include <cmath>

#include "providers/gpu/lower/nn/attention_masks.h"
#include "providers/gpu/lower/operators.h"

namespace rh::gpu {

namespace {

/// Inputs; pasts and presents of values stand behind those of keys.
constexpr int kGroupedPast = 3, kGroupedEnds = 5, kGroupedTotal = 6, kGroupedCosines = 7, kGroupedSines = 8, kGroupedPositions = 9,
              kGroupedBias = 10, kGroupedSinks = 11;

/// The parts of a row of heads: those of queries, keys and values one behind the other, or of one alone.
Heads heads_of(ValueId value, const Shape& shape, int64_t heads, int64_t depth, int64_t first) {
  return {value,
          {.batch = shape[0],
           .heads = heads,
           .rows = shape[1],
           .columns = depth,
           .batch_stride = shape[1] * shape[2],
           .head_stride = depth,
           .row_stride = shape[2],
           .offset = first * depth}};
}

void set_heads(const NodeView& node, const Lowering& lowering, const ops::GroupQueryAttention& op, AttentionCall& call) {
  const ValueId q = input_of(node, 0), k = input_of(node, 1), v = input_of(node, 2);
  const Shape shape = lowering.shape(q);
  const bool is_packed = k == kNoValue;
  const int64_t parts = op.heads + (is_packed ? 2 * op.kv_heads : 0), depth = shape.rank() == 3 ? shape[2] / parts : 0;
  if (shape.rank() != 3 || depth * parts != shape[2]) {
    node.fail("query has shape {}, expected [batch, length, {} depth]", shape.to_string(), parts);
  }
  call.q = heads_of(q, shape, op.heads, depth, 0);
  if (is_packed) {
    call.k = heads_of(q, shape, op.kv_heads, depth, op.heads);
    call.v = heads_of(q, shape, op.kv_heads, depth, op.heads + op.kv_heads);
    return;
  }
  const Shape expected{shape[0], shape[1], op.kv_heads * depth};
  for (const int i : {1, 2}) {
    const Shape found = lowering.shape(input_of(node, i));
    if (!(found == expected)) node.fail("input {} has shape {}, expected {}", i, found.to_string(), expected.to_string());
  }
  call.k = heads_of(k, expected, op.kv_heads, depth, 0);
  call.v = heads_of(v, expected, op.kv_heads, depth, 0);
}

Turn turn_of(const NodeView& node, const Lowering& lowering, const ops::GroupQueryAttention& op, const Matrices& q) {
  if (!op.rotary) return {};
  const Turn turn{input_of(node, kGroupedCosines), input_of(node, kGroupedSines), input_of(node, kGroupedPositions), op.interleaved};
  const Shape cosines = lowering.shape(turn.cosines), sines = lowering.shape(turn.sines);
  if (cosines.rank() != 2 || !(cosines == sines) || cosines[0] < 1 || cosines[1] < 1 || 2 * cosines[1] > q.columns) {
    node.fail("cos_cache has shape {} and sin_cache {}, expected [positions, at most {}] both", cosines.to_string(), sines.to_string(),
              q.columns / 2);
  }
  if (turn.positions != kNoValue && lowering.shape(turn.positions).elements() != q.batch * q.rows) {
    node.fail("position_ids has shape {}, expected [{}, {}]", lowering.shape(turn.positions).to_string(), q.batch, q.rows);
  }
  return turn;
}

Sequences sequences_of(const NodeView& node, const Lowering& lowering, const Matrices& q, int64_t total) {
  Sequences sequences{.added = q.rows, .capacity = total, .ends = input_of(node, kGroupedEnds), .is_first = total == q.rows};
  if (total < q.rows) node.fail("total_sequence_length is {}, expected at least the {} new tokens", total, q.rows);
  if (lowering.shape(sequences.ends).elements() != q.batch) {
    node.fail("seqlens_k has shape {}, expected [{}]", lowering.shape(sequences.ends).to_string(), q.batch);
  }
  if (node.has_input(kGroupedPast)) sequences.capacity = std::max(total, lowering.shape(input_of(node, kGroupedPast))[2]);
  return sequences;
}

}  // namespace

kit::Support supports_group_query_attention(const NodeView& node) {
  const ops::GroupQueryAttention op = ops::GroupQueryAttention::read(node);
  const auto leave = [](std::string_view what) {
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of GroupQueryAttention takes no {}", what);
  };
  if (op.is_quantized()) return leave("quantised caches");
  if (op.keeps_window) return leave("caches of a window");
  if (op.scores_output != 0 || node.has_output(3)) return leave("output of scores");
  if (node.has_input(14)) return leave("normalisation of queries and keys");
  if (node.has_input(16)) return leave("numbers of new tokens");
  for (const int i : {1, 2, kGroupedPast, kGroupedPast + 1, kGroupedCosines, kGroupedSines, kGroupedBias, kGroupedSinks}) {
    if (node.has_input(i) && dtype_of_input(node, i) != dtype_of_input(node, 0)) {
      return kit::refuse(RhRefusalCode_TYPE, "its kernel of GroupQueryAttention takes input {} of the type of the queries", i);
    }
  }
  if (kit::Support refusal = require_types(node, kGroupedEnds, {DType::int32})) return refusal;
  return require_types(node, 0, {DType::float32, DType::float16, DType::bfloat16});
}

void lower_group_query_attention(const NodeView& node, Lowering& lowering) {
  const ops::GroupQueryAttention op = ops::GroupQueryAttention::read(node);
  AttentionCall call{.y = node.node().outputs[0]};
  set_heads(node, lowering, op, call);
  call.y_at = matrices_of_heads(lowering.shape(call.y), op.heads);
  const int64_t total = lowering.ints(node, {.input = kGroupedTotal})->at(0);
  call.turn = turn_of(node, lowering, op, call.q.at);
  call.sequences = sequences_of(node, lowering, call.q.at, total);
  for (const int i : {0, 1}) {
    Heads& heads = i == 0 ? call.k : call.v;
    HeadCache cache{.past = input_of(node, kGroupedPast + i), .present = output_of(node, 1 + i), .sequences = call.sequences};
    if (i == 0) cache.turn = call.turn;
    if (cache.past != kNoValue) {
      const Shape past = lowering.shape(cache.past);
      check_past(node, kGroupedPast + i, past, heads);
      cache.past_capacity = past[2];
    }
    append_heads(lowering, cache, heads);
    heads.at.rows = total;
  }
  call.sinks = input_of(node, kGroupedSinks);
  if (call.sinks != kNoValue && lowering.shape(call.sinks).elements() != op.heads) {
    node.fail("head_sink has shape {}, expected [{}]", lowering.shape(call.sinks).to_string(), op.heads);
  }
  call.arguments.is_smooth = op.smooth_softmax ? 1 : 0;
  set_masks(node, lowering, {.bias = kGroupedBias}, call);
  call.arguments.scale = op.scale.value_or(1 / std::sqrt(static_cast<float>(call.q.at.columns)));
  call.arguments.softcap = op.softcap;
  call.arguments.sees_ends = op.is_causal ? 0 : 1;
  call.arguments.left_window = op.window > 0 ? op.window - 1 : -1;
  call.arguments.right_window = op.is_causal ? 0 : -1;
  lower_attention_call(lowering, std::move(call));
}

}  // namespace rh::gpu
