#include "ops/nn/group_query_attention.h"

#include <cmath>

#include "ops/nn/heads.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

GroupQueryAttention::Quantization quantization(const NodeView& node, const char* attribute) {
  const std::string kind = node.string_or(attribute, "NONE");
  if (kind == "NONE") return GroupQueryAttention::Quantization::none;
  if (kind == "PER_TENSOR") return GroupQueryAttention::Quantization::per_tensor;
  if (kind != "PER_CHANNEL") node.fail("{} is '{}', expected 'NONE', 'PER_TENSOR' or 'PER_CHANNEL'", attribute, kind);
  return GroupQueryAttention::Quantization::per_channel;
}

void read_quantization(const NodeView& node, GroupQueryAttention& op) {
  op.k_quantization = quantization(node, "k_quant_type");
  op.v_quantization = quantization(node, "v_quant_type");
  op.cache_bits = node.int_or("kv_cache_bit_width", 0);
  if (op.is_quantized() != (op.v_quantization != GroupQueryAttention::Quantization::none)) {
    node.fail("of k_quant_type and v_quant_type one is 'NONE', expected both or none");
  }
  if (op.is_quantized() ? op.cache_bits != 4 && op.cache_bits != 8 : op.cache_bits != 0) {
    node.fail("kv_cache_bit_width is {}, expected {}", op.cache_bits, op.is_quantized() ? "4 or 8" : "0, as caches are not quantised");
  }
  if (op.is_quantized() != node.has_input(12) || op.is_quantized() != node.has_input(13)) {
    node.fail("k_scale and v_scale are expected where caches are quantised, and only there");
  }
}

}  // namespace

GroupQueryAttention GroupQueryAttention::read(const NodeView& node) {
  GroupQueryAttention op{.heads = node.required_int("num_heads"),
                         .kv_heads = node.required_int("kv_num_heads"),
                         .softcap = node.float_or("softcap", 0),
                         .window = node.int_or("local_window_size", -1),
                         .is_causal = node.flag("causal", true),
                         .rotary = node.flag("do_rotary"),
                         .interleaved = node.flag("rotary_interleaved"),
                         .smooth_softmax = node.int_or("smooth_softmax", -1) > 0};
  if (op.heads < 1 || op.heads > kMostHeads || op.kv_heads < 1 || op.heads % op.kv_heads != 0) {
    node.fail("num_heads is {} and kv_num_heads {}, expected a multiple of a positive number, at most {}", op.heads, op.kv_heads,
              kMostHeads);
  }
  if (op.window < -1 || op.window == 0) node.fail("local_window_size is {}, expected -1 or at least 1", op.window);
  if (const float scale = node.float_or("scale", 0); scale != 0) op.scale = scale;
  if (node.has_input(3) != node.has_input(4)) node.fail("of past_key and past_value one is left out, expected both or none");
  if (node.has_input(1) != node.has_input(2)) node.fail("of key and value one is left out, expected both or none");
  if (op.rotary && (!node.has_input(7) || !node.has_input(8))) node.fail("do_rotary is 1 without cos_cache and sin_cache, expected both");
  read_quantization(node, op);
  const float epsilon = node.float_or("qk_norm_epsilon", 1e-6f);
  op.q_norm_epsilon = node.float_or("q_norm_epsilon", epsilon);
  op.k_norm_epsilon = node.float_or("k_norm_epsilon", epsilon);
  for (const float e : {op.q_norm_epsilon, op.k_norm_epsilon}) {
    if (!std::isfinite(e) || e <= 0) node.fail("the epsilon of a normalisation is {}, expected a finite number above 0", e);
  }
  if (node.has_input(14) != node.has_input(15)) node.fail("of q_norm_weight and k_norm_weight one is left out, expected both or none");
  op.scores_output = node.int_or("qk_output", 0);
  if (op.scores_output < 0 || op.scores_output > 2) node.fail("qk_output is {}, expected 0, 1 or 2", op.scores_output);
  if (node.has_input(16) && (!op.is_causal || !node.has_input(3))) {
    node.fail("query_seqlens is given, expected past_key, past_value and causal 1");
  }
  op.keeps_window = node.flag("sliding_window_cache");
  if (op.keeps_window && (op.window < 1 || !op.is_causal || !node.has_input(3) || node.has_output(3))) {
    node.fail("sliding_window_cache is 1, expected past_key, past_value, local_window_size from 1 on, causal 1, and no output_qk");
  }
  return op;
}

namespace {

/// Of the present caches.
Dim rows_of(const InferenceContext& context) {
  const auto total = context.input_contents(6);
  if (!total || total->size() != 1 || total->front().is_unknown()) return context.fresh_symbol();
  if (!context.has_input(3)) return total->front();
  const TensorType& past = context.input_tensor(3);
  if (!past.has_rank() || past.rank() != 4) return context.fresh_symbol();
  return Dim::apply(Dim::Function::max, (*past.dims)[2], total->front());
}

}  // namespace

void infer(const GroupQueryAttention& op, InferenceContext& context) {
  const TensorType& q = context.input_tensor(0);
  context.set_output(0, q.dtype);
  const DType cache = context.has_input(3) ? context.input_tensor(3).dtype : op.cache_dtype(q.dtype);
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
  if (!width.is_constant() || op.keeps_window) return;
  const int64_t depth = width.value() / op.heads, row = op.cache_bits == 4 ? (depth + 1) / 2 : depth;
  const SymbolicShape present{dims[0], op.kv_heads, rows_of(context), row};
  context.set_output(1, cache, present);
  context.set_output(2, cache, present);
}

}  // namespace rh::ops

RH_DEFINE_OP(GroupQueryAttention)
