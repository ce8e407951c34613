#include "ops/nn/projected_attention.h"

#include "ops/nn/heads.h"
#include "ops/registry.h"

namespace rh::ops {

ProjectedAttention ProjectedAttention::read(const NodeView& node) {
  ProjectedAttention op{.heads = node.required_int("num_heads"),
                        .sizes = node.ints_or("qkv_hidden_sizes"),
                        .hidden_score = node.float_or("mask_filter_value", -10000),
                        .is_causal = node.flag("unidirectional"),
                        .is_quantized = node.op_type() == "QAttention"};
  if (op.heads < 1 || op.heads > kMostHeads) node.fail("num_heads is {}, expected a value in [1, {}]", op.heads, kMostHeads);
  if (const float scale = node.float_or("scale", 0); scale != 0) op.scale = scale;
  if (!op.sizes.empty()) {
    bool fits = op.sizes.size() == 3 && op.sizes[0] == op.sizes[1];
    for (const int64_t size : op.sizes) fits = fits && size > 0 && size % op.heads == 0 && size < (int64_t{1} << 40);
    if (!fits) node.fail("qkv_hidden_sizes does not hold three multiples of num_heads = {}, the first two equal", op.heads);
  }
  if (node.flag("do_rotary")) node.fail("do_rotary is 1, expected 0: turn queries and keys with RotaryEmbedding");
  op.shares_buffer = node.flag("past_present_share_buffer");
  if (op.shares_buffer && (op.is_quantized || !node.has_input(op.past()) || !node.has_input(op.past_length()))) {
    node.fail("past_present_share_buffer is 1, expected {}", op.is_quantized ? "0" : "past and past_sequence_length with it");
  }
  return op;
}

void infer(const ProjectedAttention& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &weights = context.input_tensor(1);
  const DType dtype = op.is_quantized ? context.input_dtype(3) : x.dtype;
  context.set_output(0, dtype);
  context.set_output(1, dtype);
  if (!x.has_rank()) return;
  if (x.rank() != 3) context.node().fail("input has shape {}, expected three dimensions", to_string(*x.dims));
  if (weights.has_rank() && weights.rank() != 2) {
    context.node().fail("weights have shape {}, expected two dimensions", to_string(*weights.dims));
  }
  Dim width;
  if (!op.sizes.empty()) {
    width = Dim(op.sizes[2]);
  } else if (weights.has_rank() && (*weights.dims)[1].is_constant()) {
    width = Dim((*weights.dims)[1].value() / 3);
  }
  context.set_output(0, dtype, SymbolicShape{(*x.dims)[0], (*x.dims)[1], width});
  if (!width.is_constant()) return;
  Dim rows = (*x.dims)[1];
  if (context.has_input(op.past())) {
    const TensorType& past = context.input_tensor(op.past());
    if (!past.has_rank() || past.rank() != 5) return;
    rows = op.shares_buffer ? (*past.dims)[3] : rows + (*past.dims)[3];
  }
  context.set_output(1, dtype, SymbolicShape{2, (*x.dims)[0], op.heads, rows, width.value() / op.heads});
}

}  // namespace rh::ops

RH_DEFINE_OP(ProjectedAttention)
