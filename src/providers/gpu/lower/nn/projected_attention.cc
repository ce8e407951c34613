#include "ops/nn/projected_attention.h"

#include <cmath>

#include "providers/gpu/lower/math/product.h"
#include "providers/gpu/lower/nn/attention_masks.h"
#include "providers/gpu/lower/operators.h"

namespace rh::gpu {

namespace {

/// Queries, keys and values of all tokens: their sizes, and the value [batch, length, 2 size + value_size] in which they lie.
struct Projected {
  ValueId value;
  Shape shape;
  int64_t size, value_size;

  Heads heads(int64_t heads, int64_t first, int64_t columns) const {
    return {value,
            {.batch = shape[0],
             .heads = heads,
             .rows = shape[1],
             .columns = columns / heads,
             .batch_stride = shape[1] * shape[2],
             .head_stride = columns / heads,
             .row_stride = shape[2],
             .offset = first}};
  }
};

Projected project(const NodeView& node, Lowering& lowering, const ops::ProjectedAttention& op) {
  const ValueId x = input_of(node, 0), weights = input_of(node, 1), bias = input_of(node, 2);
  const Shape in = lowering.shape(x), w = lowering.shape(weights);
  const int64_t width = w.rank() == 2 ? w[1] : 0;
  const int64_t size = op.sizes.empty() ? width / 3 : op.sizes[0], value_size = op.sizes.empty() ? size : op.sizes[2];
  if (in.rank() != 3 || w.rank() != 2 || in[2] != w[0] || width < 1 || width != 2 * size + value_size || size % op.heads != 0 ||
      value_size % op.heads != 0) {
    node.fail("input has shape {} and the weights {}, expected [batch, length, I] and [I, columns] of {} heads", in.to_string(),
              w.to_string(), op.heads);
  }
  if (bias != kNoValue && !(lowering.shape(bias) == Shape{width})) {
    node.fail("the bias has shape {}, expected [{}]", lowering.shape(bias).to_string(), width);
  }
  const Shape shape{in[0], in[1], width};
  Projected made{lowering.scratch(lowering.dtype(x), shape), shape, size, value_size};
  Product product = product_of(lowering, x, weights, made.value);
  if (bias != kNoValue) {
    product.bias = bias;
    product.bias_strides = {0, 1};
  }
  lower_product(lowering, product);
  return made;
}

/// Keys and values behind the past ones [2, batch, heads, past, depth], where there are such, or the present is wanted.
void append(const NodeView& node, Lowering& lowering, const ops::ProjectedAttention& op, AttentionCall& call) {
  const ValueId past = input_of(node, op.past());
  if (past == kNoValue && !node.has_output(1)) return;
  Sequences& sequences = call.sequences;
  sequences.added = sequences.capacity = call.k.at.rows;
  const Matrices& k = call.k.at;
  int64_t held = 0;
  if (past != kNoValue) {
    const Shape shape = lowering.shape(past);
    if (shape.rank() != 5 || !(shape == Shape{2, k.batch, k.heads, shape[3], k.columns})) {
      node.fail("past has shape {}, expected [2, {}, {}, length, {}]", shape.to_string(), k.batch, k.heads, k.columns);
    }
    held = shape[3];
    sequences.past = op.shares_buffer ? lowering.ints(node, {.input = op.past_length()})->at(0) : held;
    sequences.capacity = op.shares_buffer ? held : held + sequences.added;
    if (sequences.past < 0 || sequences.past + sequences.added > sequences.capacity) {
      node.fail("past_sequence_length is {}, expected 0 to {}", sequences.past, sequences.capacity - sequences.added);
    }
  }
  const int64_t one = k.batch * k.heads * k.columns;
  ValueId present = output_of(node, 1);
  if (present == kNoValue) present = lowering.scratch(lowering.dtype(call.k.value), {2, k.batch, k.heads, sequences.capacity, k.columns});
  HeadCache cache{.past = past, .present = present, .past_capacity = held, .sequences = sequences};
  append_heads(lowering, cache, call.k);
  cache.first_past = one * held;
  cache.first_present = one * sequences.capacity;
  append_heads(lowering, cache, call.v);
}

}  // namespace

kit::Support supports_projected_attention(const NodeView& node) {
  const ops::ProjectedAttention op = ops::ProjectedAttention::read(node);
  if (!op.sizes.empty() && op.sizes[0] != op.sizes[2] && (node.has_input(op.past()) || node.has_output(1))) {
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of Attention keeps no keys and values of different sizes");
  }
  for (const int i : {1, 2, op.past(), op.bias()}) {
    if (node.has_input(i) && dtype_of_input(node, i) != dtype_of_input(node, 0)) {
      return kit::refuse(RhRefusalCode_TYPE, "its kernel of Attention takes input {} of the type of the first", i);
    }
  }
  return require_types(node, 0, {DType::float32, DType::float16, DType::bfloat16});
}

void lower_projected_attention(const NodeView& node, Lowering& lowering) {
  const ops::ProjectedAttention op = ops::ProjectedAttention::read(node);
  const Projected projected = project(node, lowering, op);
  AttentionCall call{.q = projected.heads(op.heads, 0, projected.size),
                     .k = projected.heads(op.heads, projected.size, projected.size),
                     .v = projected.heads(op.heads, 2 * projected.size, projected.value_size),
                     .y = node.node().outputs[0]};
  call.y_at = matrices_of_heads(lowering.shape(call.y), op.heads);
  append(node, lowering, op, call);
  set_masks(node, lowering, {op.mask(), op.bias(), op.hidden_score}, call);
  call.arguments.scale = op.scale.value_or(1 / std::sqrt(static_cast<float>(call.q.at.columns)));
  call.arguments.left_window = -1;
  call.arguments.right_window = op.is_causal ? 0 : -1;
  lower_attention_call(lowering, std::move(call));
}

}  // namespace rh::gpu
