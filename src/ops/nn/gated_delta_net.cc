#include "ops/nn/gated_delta_net.h"

#include <cmath>

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

GatedDeltaNet::Gate read_gate(const NodeView& node) {
  const std::string gate = node.string_or("gate_activation", "none");
  if (gate == "none") return GatedDeltaNet::Gate::none;
  if (gate == "softplus" || gate == "qwen") return GatedDeltaNet::Gate::softplus;
  if (gate == "sigmoid" || gate == "kda") return GatedDeltaNet::Gate::sigmoid;
  node.fail("gate_activation is '{}', expected 'none', 'softplus' ('qwen') or 'sigmoid' ('kda')", gate);
}

void check_inputs(const NodeView& node, const GatedDeltaNet& op, const std::string& rule) {
  const auto check = [&](int input, const char* name, bool wanted, const std::string& why) {
    if (node.has_input(input) != wanted) node.fail("{} {} the input {}", why, wanted ? "needs" : "has no use for", name);
  };
  check(4, "decay", op.gated, fmt::format("update_rule '{}'", rule));
  check(5, "beta", op.delta, fmt::format("update_rule '{}'", rule));
  const std::string gate = fmt::format("gate_activation '{}'", node.string_or("gate_activation", "none"));
  check(7, "a_log", op.gate != GatedDeltaNet::Gate::none, gate);
  check(8, "dt_bias", op.gate != GatedDeltaNet::Gate::none, gate);
  check(9, "capture_count", op.capacity > 0, fmt::format("state_update_capacity {}", op.capacity));
  if (node.has_input(1) != node.has_input(2)) node.fail("one of key and value is given, expected both or none");
  if (!node.has_input(1)) check(6, "initial_state", true, "a query that holds key and value");
  if (!node.has_input(3) && !node.has_input(6)) {
    const ValueType& query = node.input_type(0);
    if (query.is_tensor() && query.tensor().has_rank() && query.tensor().rank() != 4) {
      node.fail("neither cu_seqlens nor initial_state is given, expected one: they say how many requests there are");
    }
  }
}

}  // namespace

GatedDeltaNet GatedDeltaNet::read(const NodeView& node) {
  const std::string rule = node.string_or("update_rule", "gated_delta"), beta = node.string_or("beta_activation", "none");
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta") {
    node.fail("update_rule is '{}', expected 'linear', 'gated', 'delta' or 'gated_delta'", rule);
  }
  if (beta != "none" && beta != "sigmoid") node.fail("beta_activation is '{}', expected 'none' or 'sigmoid'", beta);
  GatedDeltaNet op{.gated = rule.starts_with("gated"), .delta = rule.ends_with("delta"), .gate = read_gate(node)};
  op.beta_sigmoid = beta == "sigmoid";
  op.normalized = node.flag("qk_l2_norm");
  op.scale = node.float_or("scale", 0);
  op.gate_lower_bound = node.float_or("gate_lower_bound", -5);
  op.capacity = node.int_or("state_update_capacity", 0);
  if (!std::isfinite(op.gate_lower_bound) || op.gate_lower_bound >= 0) {
    node.fail("gate_lower_bound is {}, expected a finite number below 0", op.gate_lower_bound);
  }
  if (op.capacity < 0 || op.capacity > 8) node.fail("state_update_capacity is {}, expected 0 to 8", op.capacity);
  check_inputs(node, op, rule);
  return op;
}

namespace {

/// DeltaNetSizes as far as they are known.
struct DeltaNetSizes {
  SymbolicShape tokens;  ///< the leading dimensions
  Dim batch, key_heads, depth, value_heads, value_depth;
};

std::optional<DeltaNetSizes> sizes_of(const InferenceContext& context) {
  const TensorType &q = context.input_tensor(0), &state = context.has_input(6) ? context.input_tensor(6) : q;
  const bool packed = !context.has_input(1), has_state = context.has_input(6) && state.has_rank();
  if (has_state && state.rank() != 4) context.node().fail("initial_state has shape {}, expected 4 dimensions", to_string(*state.dims));
  if (!q.has_rank()) return {};
  const int leading = q.rank() - (packed ? 1 : 2);
  if (leading != 1 && leading != 2) {
    context.node().fail("query has shape {}, expected {}", to_string(*q.dims), packed ? "2 or 3 dimensions" : "3 or 4 dimensions");
  }
  if (leading == 2 && context.has_input(3)) {
    context.node().fail("query has shape {} beside cu_seqlens, expected tokens in one dimension", to_string(*q.dims));
  }
  DeltaNetSizes sizes{.tokens = SymbolicShape(q.dims->begin(), q.dims->begin() + leading)};
  if (has_state) {
    sizes.batch = (*state.dims)[0];
    sizes.value_heads = (*state.dims)[1];
    sizes.value_depth = (*state.dims)[2];
    sizes.depth = (*state.dims)[3];
  }
  if (leading == 2) sizes.batch = has_state ? agree(context, sizes.batch, (*q.dims)[0], "requests") : (*q.dims)[0];
  if (context.has_input(3) && context.input_tensor(3).has_rank() && context.input_tensor(3).rank() == 1 && !has_state) {
    sizes.batch = (*context.input_tensor(3).dims)[0] - Dim(1);
  }
  if (packed) {
    sizes.key_heads = Dim::apply(Dim::Function::floor_div, q.dims->back() - sizes.value_heads * sizes.value_depth, sizes.depth * Dim(2));
    if (sizes.key_heads.is_constant() && sizes.key_heads.value() < 1) {
      context.node().fail("query has shape {}, which does not hold queries, keys and values of the heads that initial_state {} has",
                          to_string(*q.dims), to_string(*state.dims));
    }
    return sizes;
  }
  const TensorType& v = context.input_tensor(2);
  sizes.key_heads = (*q.dims)[leading];
  sizes.depth = (*q.dims)[leading + 1];
  if (v.has_rank()) {
    if (v.rank() != q.rank()) context.node().fail("value has shape {}, expected {} dimensions", to_string(*v.dims), q.rank());
    sizes.value_heads = (*v.dims)[leading];
    sizes.value_depth = (*v.dims)[leading + 1];
  }
  return sizes;
}

}  // namespace

void infer(const GatedDeltaNet& op, InferenceContext& context) {
  const DType dtype = context.input_dtype(0);
  const std::optional<DeltaNetSizes> sizes = sizes_of(context);
  context.set_output(0, dtype);
  if (context.has_output(1)) context.set_output(1, DType::float32);
  if (context.has_output(2)) context.set_output(2, DType::float32);
  if (!sizes) return;
  SymbolicShape y = sizes->tokens;
  y.push_back(sizes->value_heads);
  y.push_back(sizes->value_depth);
  context.set_output(0, dtype, std::move(y));
  if (context.has_output(1)) {
    context.set_output(1, DType::float32, SymbolicShape{sizes->batch, sizes->value_heads, sizes->value_depth, sizes->depth});
  }
  if (!context.has_output(2)) return;
  Dim decay = sizes->value_heads;
  if (op.gated && context.input_tensor(4).has_rank()) {
    if (context.input_tensor(4).rank() == static_cast<int>(sizes->tokens.size()) + 2) decay = decay * sizes->depth;
  } else if (op.gated) {
    decay = Dim();
  }
  const Dim row = decay + sizes->key_heads * sizes->depth + sizes->value_heads * sizes->value_depth;
  context.set_output(2, DType::float32, SymbolicShape{sizes->batch, row * Dim(op.capacity)});
}

}  // namespace rh::ops

RH_DEFINE_OP(GatedDeltaNet)
