#include "ops/nn/group_query_attention.h"

#include "ops/registry.h"

namespace rh::ops {

GroupQueryAttention GroupQueryAttention::read(const NodeView& node) {
  GroupQueryAttention op{.heads = node.required_int("num_heads"),
                         .kv_heads = node.required_int("kv_num_heads"),
                         .softcap = node.float_or("softcap", 0),
                         .window = node.int_or("local_window_size", -1),
                         .is_causal = node.flag("causal", true),
                         .rotary = node.flag("do_rotary"),
                         .interleaved = node.flag("rotary_interleaved"),
                         .smooth_softmax = node.int_or("smooth_softmax", -1) > 0};
  if (op.heads < 1 || op.kv_heads < 1 || op.heads % op.kv_heads != 0) {
    node.fail("num_heads is {} and kv_num_heads {}, expected a multiple of a positive number", op.heads, op.kv_heads);
  }
  if (op.window < -1 || op.window == 0) node.fail("local_window_size is {}, expected -1 or at least 1", op.window);
  if (const float scale = node.float_or("scale", 0); scale != 0) op.scale = scale;
  if (node.has_input(3) != node.has_input(4)) node.fail("of past_key and past_value one is left out, expected both or none");
  if (node.has_input(1) != node.has_input(2)) node.fail("of key and value one is left out, expected both or none");
  if (op.rotary && (!node.has_input(7) || !node.has_input(8))) node.fail("do_rotary is 1 without cos_cache and sin_cache, expected both");
  return op;
}

void infer(const GroupQueryAttention& op, InferenceContext& context) {
  const TensorType& q = context.input_tensor(0);
  context.set_output(0, q.dtype);
  const DType cache = context.has_input(3) ? context.input_tensor(3).dtype : q.dtype;
  context.set_output(1, cache);
  context.set_output(2, cache);
  context.set_output(3, q.dtype);
  if (!q.has_rank()) return;
  const SymbolicShape& dims = *q.dims;
  if (dims.size() != 3) context.node().fail("query has shape {}, expected three dimensions", to_string(dims));
  Dim width = dims[2];
  if (!context.has_input(1)) {
    width = dims[2].is_constant() ? Dim(dims[2].value() / (op.heads + 2 * op.kv_heads) * op.heads) : Dim();
  }
  context.set_output(0, q.dtype, SymbolicShape{dims[0], dims[1], width});
}

}  // namespace rh::ops

RH_DEFINE_OP(GroupQueryAttention)
