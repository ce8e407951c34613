#include "ops/nn/fused_attention.h"

#include "ops/registry.h"

namespace rh::ops {

FusedAttention FusedAttention::read(const NodeView& node) {
  return {.scale = node.float_or("scale", 1),
          .q_length_first = node.flag("q_length_first"),
          .k_length_first = node.flag("k_length_first"),
          .v_length_first = node.flag("v_length_first"),
          .output_length_first = node.flag("output_length_first"),
          .q_part = node.int_or("q_part", 0),
          .k_part = node.int_or("k_part", 0),
          .v_part = node.int_or("v_part", 0),
          .k_transposed = node.flag("k_transposed"),
          .nan_is_zero = node.flag("nan_is_zero"),
          .softcap = node.float_or("softcap", 0),
          .masked_score = node.has("masked_score") ? std::optional(node.float_or("masked_score", 0)) : std::nullopt,
          .masked_is_zero = node.flag("masked_is_zero")};
}

namespace {

/// [batch, heads, queries] or [batch, queries] as keys, values and masks that are broadcast leave them.
SymbolicShape broadcast_rows(SymbolicShape rows, const InferenceContext& context) {
  for (int i = 1; i < context.input_count(); ++i) {
    const TensorType& input = context.input_tensor(i);
    if (!context.has_input(i) || !input.has_rank()) continue;
    const SymbolicShape& dims = *input.dims;
    if (i > 2) {
      if (!dims.empty() && dims.size() <= rows.size() + 1) rows = context.broadcast(rows, {dims.begin(), dims.end() - 1});
    } else if (!dims.empty() && (dims.size() > 3 || rows.size() == 2)) {
      rows[0] = context.broadcast({rows[0]}, {dims[0]})[0];
    }
  }
  return rows;
}

}  // namespace

void infer(const FusedAttention& op, InferenceContext& context) {
  const TensorType &q = context.input_tensor(0), &v = context.input_tensor(2);
  if (!q.has_rank() || !v.has_rank()) return context.set_output(0, q.dtype);
  if (q.rank() < 3 || q.rank() > 5 || v.rank() < 3 || v.rank() > 5 || (q.rank() == 3) != (v.rank() == 3)) {
    context.node().fail("Q has shape {} and V {}, expected three dimensions each, or four or five", to_string(*q.dims), to_string(*v.dims));
  }
  SymbolicShape dims = *q.dims;
  const bool length_first = op.q_length_first || dims.size() == 5;
  if (dims.size() == 5) dims.erase(dims.begin() + 2);
  if (dims.size() == 4 && length_first) std::swap(dims[1], dims[2]);
  dims.pop_back();
  dims = broadcast_rows(std::move(dims), context);
  if (dims.size() == 3 && op.output_length_first) std::swap(dims[1], dims[2]);
  dims.push_back(v.dims->back());
  context.set_output(0, q.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(FusedAttention)
