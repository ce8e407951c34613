#include "ops/nn/sparse_attention.h"

#include "ops/nn/heads.h"
#include "ops/registry.h"

namespace rh::ops {

SparseAttention SparseAttention::read(const NodeView& node) {
  SparseAttention op{.heads = node.required_int("num_heads"),
                     .kv_heads = node.required_int("kv_num_heads"),
                     .block = node.required_int("sparse_block_size"),
                     .rotary = node.flag("do_rotary"),
                     .interleaved = node.flag("rotary_interleaved")};
  if (op.heads < 1 || op.heads > kMostHeads || op.kv_heads < 1 || op.heads % op.kv_heads != 0) {
    node.fail("num_heads is {} and kv_num_heads {}, expected a multiple of a positive number, at most {}", op.heads, op.kv_heads,
              kMostHeads);
  }
  if (op.block < 1 || op.block > (int64_t{1} << 30)) node.fail("sparse_block_size is {}, expected a number of tokens", op.block);
  if (const float scale = node.float_or("scale", 0); scale != 0) op.scale = scale;
  if (node.has_input(1) != node.has_input(2)) node.fail("of key and value one is left out, expected both or none");
  if (op.rotary && (!node.has_input(9) || !node.has_input(10))) node.fail("do_rotary is 1 without cos_cache and sin_cache, expected both");
  return op;
}

void infer(const SparseAttention& op, InferenceContext& context) {
  const TensorType& q = context.input_tensor(0);
  context.set_output(0, q.dtype);
  context.set_output(1, context.input_tensor(3));
  context.set_output(2, context.input_tensor(4));
  if (!q.has_rank()) return;
  if (q.rank() != 3) context.node().fail("query has shape {}, expected three dimensions", to_string(*q.dims));
  Dim width = (*q.dims)[2];
  if (!context.has_input(1)) width = width.is_constant() ? Dim(width.value() / (op.heads + 2 * op.kv_heads) * op.heads) : Dim();
  context.set_output(0, q.dtype, SymbolicShape{(*q.dims)[0], (*q.dims)[1], width});
}

}  // namespace rh::ops

RH_DEFINE_OP(SparseAttention)
