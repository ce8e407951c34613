#include "ops/nn/attention.h"

#include "ops/dim_rules.h"
#include "ops/nn/heads.h"
#include "ops/registry.h"

namespace rh::ops {

Attention Attention::read(const NodeView& node) {
  Attention op{.is_causal = node.flag("is_causal"),
               .q_heads = node.int_or("q_num_heads", 0),
               .kv_heads = node.int_or("kv_num_heads", 0),
               .softcap = node.float_or("softcap", 0),
               .left_window = node.int_or("left_window_size", -1),
               .right_window = node.int_or("right_window_size", -1),
               .pads_mask = node.opset() >= 24};
  if (node.has("scale")) op.scale = node.float_or("scale", 1);
  const int64_t mode = node.int_or("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) node.fail("qk_matmul_output_mode is {}, expected 0 to 3", mode);
  op.qk_output = static_cast<Output>(mode);
  if (node.has("softmax_precision")) {
    const int64_t type = node.int_or("softmax_precision", 0);
    if (type != 1 && type != 10 && type != 11 && type != 16) node.fail("softmax_precision is {}, expected 1, 10, 11 or 16", type);
    op.softmax_precision = static_cast<DType>(type);
  }
  if (op.left_window < -1 || op.right_window < -1) {
    node.fail("left_window_size is {} and right_window_size {}, expected at least -1", op.left_window, op.right_window);
  }
  if (op.q_heads < 0 || op.kv_heads < 0 || op.q_heads > kMostHeads || op.kv_heads > kMostHeads) {
    node.fail("q_num_heads is {} and kv_num_heads {}, expected positive numbers, at most {}", op.q_heads, op.kv_heads, kMostHeads);
  }
  if (node.has_input(4) != node.has_input(5)) node.fail("of past_key and past_value one is left out, expected both or none");
  if (node.has_input(4) && node.has_input(6)) node.fail("past_key and nonpad_kv_seqlen are both given, expected one of them");
  return op;
}

namespace {

/// [batch, length, heads depth] as [batch, heads, length, depth].
SymbolicShape heads_first(const NodeView& node, const SymbolicShape& dims, int64_t heads, const char* attribute) {
  if (dims.size() == 4) return dims;
  if (heads == 0) node.fail("inputs have three dimensions, expected the attribute {}", attribute);
  if (dims[2].is_constant() && dims[2].value() % heads != 0) {
    node.fail("input has shape {}, expected a last dimension that {} = {} divides", to_string(dims), attribute, heads);
  }
  return {dims[0], heads, dims[1], Dim::apply(Dim::Function::floor_div, dims[2], heads)};
}

}  // namespace

void infer(const Attention& op, InferenceContext& context) {
  const TensorType &q = context.input_tensor(0), &k = context.input_tensor(1), &v = context.input_tensor(2);
  const NodeView& node = context.node();
  context.set_output(0, q.dtype);
  context.set_output(1, k.dtype);
  context.set_output(2, v.dtype);
  context.set_output(3, q.dtype);
  if (!q.has_rank() || !k.has_rank() || !v.has_rank()) return;
  if ((q.rank() != 3 && q.rank() != 4) || k.rank() != q.rank() || v.rank() != q.rank()) {
    node.fail("Q has shape {}, K {} and V {}, expected three dimensions each, or four", to_string(*q.dims), to_string(*k.dims),
              to_string(*v.dims));
  }
  const SymbolicShape queries = heads_first(node, *q.dims, op.q_heads, "q_num_heads");
  SymbolicShape keys = heads_first(node, *k.dims, op.kv_heads, "kv_num_heads");
  SymbolicShape values = heads_first(node, *v.dims, op.kv_heads, "kv_num_heads");
  agree(context, queries[3], keys[3], "depths of Q and K");
  agree(context, keys[2], values[2], "lengths of K and V");
  if (context.has_input(4)) {
    const TensorType& past = context.input_tensor(4);
    if (past.has_rank() && past.rank() != 4) node.fail("past_key has rank {}, expected 4", past.rank());
    keys[2] = values[2] = past.has_rank() ? keys[2] + (*past.dims)[2] : Dim();
  }
  if (q.rank() == 4) {
    context.set_output(0, q.dtype, SymbolicShape{queries[0], queries[1], queries[2], values[3]});
  } else {
    context.set_output(0, q.dtype, SymbolicShape{queries[0], queries[2], queries[1] * values[3]});
  }
  context.set_output(1, k.dtype, keys);
  context.set_output(2, v.dtype, values);
  context.set_output(3, q.dtype, SymbolicShape{queries[0], queries[1], queries[2], keys[2]});
}

}  // namespace rh::ops

RH_DEFINE_OP(Attention)
