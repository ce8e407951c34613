#include "ops/nn/multi_head_attention.h"

#include <optional>

#include "ops/nn/heads.h"
#include "ops/registry.h"

namespace rh::ops {

MultiHeadAttention MultiHeadAttention::read(const NodeView& node) {
  MultiHeadAttention op{.heads = node.required_int("num_heads"),
                        .hidden_score = node.float_or("mask_filter_value", -10000),
                        .is_causal = node.flag("unidirectional"),
                        .is_decoder = node.op_type() == "DecoderMaskedMultiHeadAttention"};
  if (op.heads < 1 || op.heads > kMostHeads) node.fail("num_heads is {}, expected a value in [1, {}]", op.heads, kMostHeads);
  if (const float scale = node.float_or("scale", 0); scale != 0) op.scale = scale;
  if (node.has_input(op.past_key()) != node.has_input(op.past_value()))
    node.fail("of past_key and past_value one is left out, expected both or none");
  if (!node.has_input(1) && node.has_input(2)) node.fail("value is given without key, expected both or none");
  for (int i : {op.past_length(), op.indirection()}) {
    if (node.has_input(i) && !node.has_input(op.past_key())) node.fail("input {} is given without past_key and past_value", i);
  }
  return op;
}

namespace {

/// New keys or values as [batch, heads, length, depth]; nothing where that is not known.
std::optional<SymbolicShape> new_rows(const MultiHeadAttention& op, const InferenceContext& context, int input) {
  const TensorType& x = context.input_tensor(input);
  if (!x.has_rank()) return std::nullopt;
  const SymbolicShape& dims = *x.dims;
  if (dims.size() == 4) return dims;
  if (dims.size() == 5) return SymbolicShape{dims[0], op.heads, dims[1], dims[4]};
  if (dims.size() != 3 || !dims[2].is_constant()) return std::nullopt;
  return SymbolicShape{dims[0], op.heads, dims[1], dims[2].value() / op.heads};
}

void infer_present(const MultiHeadAttention& op, InferenceContext& context, int input, int past_input, int output) {
  std::optional<SymbolicShape> rows = new_rows(op, context, input);
  if (!rows) return;
  if (context.has_input(past_input)) {
    const TensorType& past = context.input_tensor(past_input);
    if (!past.has_rank() || past.rank() != 4) return;
    const Dim& held = (*past.dims)[2];
    (*rows)[2] = context.has_input(op.past_length()) ? held : (*rows)[2] + held;
  }
  context.set_output(output, context.input_dtype(0), std::move(*rows));
}

void infer_presents(const MultiHeadAttention& op, InferenceContext& context) {
  if (op.is_decoder) return;
  const TensorType& q = context.input_tensor(0);
  const bool is_packed = q.rank() == 5;
  if (!is_packed && !context.has_input(1)) return;
  const int key = is_packed ? 0 : 1, value = is_packed ? 0 : context.has_input(2) ? 2 : 1;
  infer_present(op, context, key, op.past_key(), 1);
  infer_present(op, context, value, op.past_value(), 2);
}

}  // namespace

void infer(const MultiHeadAttention& op, InferenceContext& context) {
  const TensorType& q = context.input_tensor(0);
  const NodeView& node = context.node();
  for (int i = 0; i < 4; ++i) context.set_output(i, q.dtype);
  if (!q.has_rank()) return;
  infer_presents(op, context);
  const SymbolicShape& dims = *q.dims;
  if (dims.size() == 5) {
    context.set_output(0, q.dtype, SymbolicShape{dims[0], dims[1], dims[2] * dims[4]});
    return;
  }
  if (dims.size() != 3) node.fail("query has shape {}, expected [B, S, D] or [B, S, N, 3, H]", to_string(dims));
  if (dims[2].is_constant() && dims[2].value() % op.heads != 0) {
    node.fail("query has shape {}, expected a last dimension that num_heads = {} divides", to_string(dims), op.heads);
  }
  Dim width;  // of the output
  if (context.has_input(2)) {
    const TensorType& v = context.input_tensor(2);
    if (v.has_rank() && v.rank() == 3) width = (*v.dims)[2];
    if (v.has_rank() && v.rank() == 4) width = (*v.dims)[1] * (*v.dims)[3];
  } else if (context.has_input(1)) {
    width = dims[2];
  } else if (op.is_decoder && dims[2].is_constant()) {
    width = Dim(dims[2].value() / 3);
  }
  context.set_output(0, q.dtype, SymbolicShape{dims[0], dims[1], width});
}

}  // namespace rh::ops

RH_DEFINE_OP(MultiHeadAttention)
