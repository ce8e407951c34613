#include "ops/tensor/unsqueeze.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

Unsqueeze Unsqueeze::read(const NodeView& node) {
  return {.axes =
              node.opset() < 13 && node.domain().empty() ? IntsOperand::from_attribute(node, "axes") : IntsOperand::from_input(node, 1)};
}

void infer(const Unsqueeze& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const auto count = op.axes.contents(context);
  if (!x.has_rank() || !count) return context.set_output(0, x.dtype);
  const int rank = x.rank() + static_cast<int>(count->size());
  const auto axes = op.axes.ints(context);
  if (!axes) return context.set_output(0, x.dtype, unknown_dims(rank));
  std::vector<bool> added(static_cast<size_t>(rank));
  for (int64_t axis : *axes) {
    const int k = context.check_axis("axes", axis, rank);
    if (added[k]) context.node().fail("axes {} name axis {} more than once", to_string(std::span<const int64_t>(*axes)), axis);
    added[k] = true;
  }
  SymbolicShape y;
  for (int k = 0, from = 0; k < rank; ++k) y.push_back(added[k] ? Dim(1) : (*x.dims)[from++]);
  context.set_output(0, x.dtype, std::move(y));
  if (rank <= 1) keep_contents(context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Unsqueeze)
