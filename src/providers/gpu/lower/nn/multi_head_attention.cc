#include "ops/nn/multi_head_attention.h"

#include <cmath>

#include "providers/gpu/lower/nn/attention_masks.h"
#include "providers/gpu/lower/operators.h"

namespace rh::gpu {

namespace {

/// An input as [batch, length, heads depth], [batch, heads, length, depth], or one of the parts of [batch, length, heads, parts, depth].
Heads heads_of(const NodeView& node, const Lowering& lowering, int input, int64_t heads, int64_t part) {
  const ValueId value = input_of(node, input);
  const Shape shape = lowering.shape(value);
  const int rank = shape.rank();
  const bool fits = rank == 5 ? shape[2] == heads : rank == 4 ? shape[1] == heads : rank == 3 && shape[2] % heads == 0;
  if (!fits) node.fail("input {} has shape {}, expected one of {} heads", input, shape.to_string(), heads);
  if (rank == 3) return {value, matrices_of_heads(shape, heads)};
  if (rank == 4) return {value, matrices_of(shape)};
  const int64_t parts = shape[3], depth = shape[4];
  return {value,
          {.batch = shape[0],
           .heads = heads,
           .rows = shape[1],
           .columns = depth,
           .batch_stride = shape.product(1, rank),
           .head_stride = parts * depth,
           .row_stride = heads * parts * depth,
           .offset = part * depth}};
}

/// The bias of the three projections. Keys and values with heads of their own have had theirs.
void set_biases(const NodeView& node, const Lowering& lowering, int input, AttentionCall& call) {
  const ValueId bias = input_of(node, input);
  if (bias == kNoValue) return;
  const int64_t size = call.q.at.heads * call.q.at.columns, value_size = call.v.at.heads * call.v.at.columns;
  if (!(lowering.shape(bias) == Shape{2 * size + value_size})) {
    node.fail("input {}, the bias, has shape {}, expected [{}]", input, lowering.shape(bias).to_string(), 2 * size + value_size);
  }
  call.q.bias = bias;
  if (node.has_input(1) && rank_of(node, 1) == 4) return;
  call.k.bias = call.v.bias = bias;
  call.k.first_bias = size;
  call.v.first_bias = 2 * size;
}

/// Keys or values behind their past, where there is one, or the present is wanted.
void append(const NodeView& node, Lowering& lowering, const ops::MultiHeadAttention& op, bool is_value, Heads& heads,
            Sequences& sequences) {
  const int past = is_value ? op.past_value() : op.past_key();
  HeadCache cache{.past = input_of(node, past), .present = output_of(node, is_value ? 2 : 1)};
  sequences.added = heads.at.rows;
  sequences.capacity = sequences.added;
  if (cache.past != kNoValue) {
    const Shape shape = lowering.shape(cache.past);
    check_past(node, past, shape, heads);
    cache.past_capacity = shape[2];
    cache.keeps_rest = node.has_input(op.past_length());
    sequences.past = cache.keeps_rest ? lowering.ints(node, {.input = op.past_length()})->at(0) : shape[2];
    sequences.capacity = cache.keeps_rest ? shape[2] : shape[2] + sequences.added;
    if (sequences.past < 0 || sequences.past + sequences.added > sequences.capacity) {
      node.fail("past_sequence_length is {}, expected 0 to {}", sequences.past, sequences.capacity - sequences.added);
    }
  } else if (cache.present == kNoValue) {
    return;
  }
  cache.sequences = sequences;
  append_heads(lowering, cache, heads);
}

}  // namespace

kit::Support supports_multi_head_attention(const NodeView& node) {
  const ops::MultiHeadAttention op = ops::MultiHeadAttention::read(node);
  if (node.has_output(3)) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of MultiHeadAttention gives no scores");
  if (node.has_input(op.indirection()))
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of MultiHeadAttention takes no indirection");
  const int q = rank_of(node, 0), k = node.has_input(1) ? rank_of(node, 1) : 0;
  const bool is_packed = q == 5, are_keys_packed = q == 3 && k == 5, are_apart = q == 3 && (k == 3 || k == 4) && node.has_input(2);
  if (!is_packed && !are_keys_packed && !are_apart) {
    return kit::refuse(RhRefusalCode_SHAPE, "its kernel of MultiHeadAttention does not take queries of rank {} with keys of rank {}", q, k);
  }
  for (const int i : {1, 2, op.bias(), op.scores_bias(), op.past_key(), op.past_value()}) {
    if (node.has_input(i) && dtype_of_input(node, i) != dtype_of_input(node, 0)) {
      return kit::refuse(RhRefusalCode_TYPE, "its kernel of MultiHeadAttention takes input {} of the type of the queries", i);
    }
  }
  return require_types(node, 0, {DType::float32, DType::float16, DType::bfloat16});
}

void lower_multi_head_attention(const NodeView& node, Lowering& lowering) {
  const ops::MultiHeadAttention op = ops::MultiHeadAttention::read(node);
  AttentionCall call{.y = node.node().outputs[0]};
  const bool is_packed = rank_of(node, 0) == 5, are_keys_packed = !is_packed && rank_of(node, 1) == 5;
  call.q = heads_of(node, lowering, 0, op.heads, 0);
  call.k = heads_of(node, lowering, is_packed ? 0 : 1, op.heads, is_packed ? 1 : 0);
  call.v = heads_of(node, lowering, is_packed ? 0 : are_keys_packed ? 1 : 2, op.heads, is_packed ? 2 : 1);
  call.y_at = matrices_of_heads(lowering.shape(call.y), op.heads);
  set_biases(node, lowering, op.bias(), call);
  append(node, lowering, op, false, call.k, call.sequences);
  append(node, lowering, op, true, call.v, call.sequences);
  set_masks(node, lowering, {op.mask(), op.scores_bias(), op.hidden_score}, call);
  call.arguments.scale = op.scale.value_or(1 / std::sqrt(static_cast<float>(call.q.at.columns)));
  call.arguments.left_window = -1;
  call.arguments.right_window = op.is_causal ? 0 : -1;
  lower_attention_call(lowering, std::move(call));
}

}  // namespace rh::gpu
