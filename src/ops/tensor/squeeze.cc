#include "ops/tensor/squeeze.h"

#include <algorithm>

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

std::optional<SymbolicShape> result_dims(const Squeeze& op, const InferenceContext& context, const SymbolicShape& x) {
  const int rank = static_cast<int>(x.size());
  SymbolicShape y;
  if (!op.axes.is_given(context)) {
    for (const Dim& d : x) {
      if (!d.is_constant()) return std::nullopt;
      if (!d.is_constant(1)) y.push_back(d);
    }
    return y;
  }
  const auto axes = op.axes.ints(context);
  if (!axes) {
    const auto count = op.axes.contents(context);
    if (!count || static_cast<int>(count->size()) > rank) return std::nullopt;
    return unknown_dims(rank - static_cast<int>(count->size()));
  }
  std::vector<bool> removed(x.size());
  for (int64_t axis : *axes) {
    const int k = context.check_axis("axes", axis, rank);
    if (x[k].is_constant() && !x[k].is_constant(1)) {
      context.node().fail("axis {} of input {} is {}, expected 1", axis, to_string(x), x[k].value());
    }
    removed[k] = true;
  }
  for (int k = 0; k < rank; ++k) {
    if (!removed[k]) y.push_back(x[k]);
  }
  return y;
}

}  // namespace

Squeeze Squeeze::read(const NodeView& node) {
  return {.axes = node.opset() < 13 ? IntsOperand::from_attribute(node, "axes") : IntsOperand::from_input(node, 1)};
}

void infer(const Squeeze& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  context.set_output(0, x.dtype, x.has_rank() ? result_dims(op, context, *x.dims) : std::nullopt);
  keep_contents(context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Squeeze)
