#include "ops/control_flow/if.h"

#include "ops/control_flow/subgraph_types.h"
#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const If&, InferenceContext& context) {
  const std::vector<ValueType> then_types = context.infer_subgraph("then_branch", {});
  const std::vector<ValueType> else_types = context.infer_subgraph("else_branch", {});
  const size_t count = static_cast<size_t>(context.output_count());
  if (then_types.size() < count || else_types.size() < count) {
    context.node().fail("then_branch and else_branch have {} and {} outputs, expected {}", then_types.size(), else_types.size(), count);
  }
  const Tensor* condition = context.input_constant(0);
  const bool known = condition && condition->dtype() == DType::boolean && condition->elements() == 1;
  for (size_t i = 0; i < count; ++i) {
    const ValueType type = known ? (*condition->data<bool>() ? then_types[i] : else_types[i])
                                 : either(context, then_types[i], else_types[i], "an output of both branches");
    context.set_output(static_cast<int>(i), visible_outside(context, type));
  }
}

}  // namespace rh::ops

RH_DEFINE_OP(If)
