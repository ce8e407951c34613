#include "ops/nn/moe_group_router.h"

#include "ops/registry.h"

namespace rh::ops {

MoEGroupRouter MoEGroupRouter::read(const NodeView& node) {
  const MoEGroupRouter op{.top_k = node.required_int("top_k"),
                          .groups = node.int_or("n_group", 1),
                          .chosen = node.int_or("topk_group", 1),
                          .group_experts = node.int_or("group_topk", 2),
                          .sentinel = node.float_or("router_sentinel", -10000)};
  const auto check = [&](const char* name, int64_t value) {
    if (value < 1) node.fail("{} is {}, expected 1 or more", name, value);
  };
  check("top_k", op.top_k);
  check("n_group", op.groups);
  check("topk_group", op.chosen);
  check("group_topk", op.group_experts);
  if (op.chosen > op.groups) node.fail("topk_group is {}, expected at most n_group = {}", op.chosen, op.groups);
  const bool full = node.has_output(1) || node.has_output(2);
  if (full && (node.has_output(0) || !node.has_output(1) || !node.has_output(2))) {
    node.fail("selection_scores and router_weights come together, and without router_probs");
  }
  if (full && op.groups != 1) node.fail("n_group is {}, expected 1 for selection_scores and router_weights", op.groups);
  if (node.has_input(2) && !full) node.fail("projection_weight is given for router_probs, expected it for selection_scores alone");
  return op;
}

void infer(const MoEGroupRouter&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const bool projected = context.has_input(2);
  if (x.has_rank() && (projected ? x.rank() != 2 : x.rank() < 1)) {
    context.node().fail("logits have shape {}, expected {}", to_string(*x.dims), projected ? "2 dimensions" : "at least one dimension");
  }
  std::optional<SymbolicShape> shape;
  if (x.has_rank()) {
    Dim rows = 1, experts = x.dims->back();
    for (int i = 0; i + 1 < x.rank(); ++i) rows = rows * (*x.dims)[i];
    if (projected) experts = context.input_tensor(2).has_rank() ? context.input_tensor(2).dims->front() : Dim();
    shape = SymbolicShape{rows, experts};
  }
  if (context.has_output(0)) context.set_output(0, x.dtype, shape);
  if (context.has_output(1)) context.set_output(1, DType::float32, shape);
  if (context.has_output(2)) context.set_output(2, DType::float32, shape);
}

}  // namespace rh::ops

RH_DEFINE_OP(MoEGroupRouter)
