#include "ops/nn/linear_attention.h"

#include "ops/nn/heads.h"
#include "ops/registry.h"

namespace rh::ops {

LinearAttention LinearAttention::read(const NodeView& node) {
  LinearAttention op{
      .q_heads = node.required_int("q_num_heads"), .kv_heads = node.required_int("kv_num_heads"), .scale = node.float_or("scale", 0)};
  const bool is_contrib = node.domain() == "com.microsoft";
  const bool positive = op.kv_heads > 0 && op.q_heads > 0 && op.kv_heads <= kMostHeads && op.q_heads <= kMostHeads;
  if (!positive || (op.q_heads % op.kv_heads != 0 && !(is_contrib && op.kv_heads % op.q_heads == 0))) {
    node.fail("q_num_heads is {}, expected a positive multiple of kv_num_heads = {}, at most {}", op.q_heads, op.kv_heads, kMostHeads);
  }
  const std::string rule = node.string_or("update_rule", "gated_delta");
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta") {
    node.fail("update_rule is '{}', expected 'linear', 'gated', 'delta' or 'gated_delta'", rule);
  }
  op.gated = rule.starts_with("gated");
  op.delta = rule.ends_with("delta");
  op.window = node.int_or("state_window", 0);
  if (op.window < 0 || op.window > 8) node.fail("state_window is {}, expected 0 to 8", op.window);
  if (node.has_input(4) ? !op.gated && !is_contrib : op.gated)
    node.fail("update_rule '{}' {} the input decay", rule, op.gated ? "needs" : "has no use for");
  if (node.has_input(5) ? !op.delta && !is_contrib : op.delta)
    node.fail("update_rule '{}' {} the input beta", rule, op.delta ? "needs" : "has no use for");
  return op;
}

void infer(const LinearAttention& op, InferenceContext& context) {
  const TensorType &q = context.input_tensor(0), &k = context.input_tensor(1), &v = context.input_tensor(2);
  const DType state = context.has_input(3) ? context.input_dtype(3) : q.dtype;
  for (const TensorType* type : {&q, &k, &v}) {
    if (type->has_rank() && type->rank() != 3) context.node().fail("an input has shape {}, expected 3 dimensions", to_string(*type->dims));
  }
  context.set_output(0, q.dtype);
  context.set_output(1, state);
  if (!q.has_rank() || !v.has_rank()) return;
  const Dim depth = Dim::apply(Dim::Function::floor_div, (*q.dims)[2], op.q_heads),
            value_depth = Dim::apply(Dim::Function::floor_div, (*v.dims)[2], op.kv_heads);
  context.set_output(0, q.dtype, SymbolicShape{(*q.dims)[0], (*q.dims)[1], value_depth * Dim(op.out_heads())});
  SymbolicShape dims{(*q.dims)[0], op.kv_heads, depth, value_depth};
  if (op.window > 0) dims.insert(dims.begin(), Dim(op.window));
  context.set_output(1, state, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(LinearAttention)
