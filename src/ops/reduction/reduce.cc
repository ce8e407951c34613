#include "ops/reduction/reduce.h"

#include <algorithm>

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

using F = Reduce::Function;
constexpr OpName<F> kNames[] = {
    {"ReduceSum", F::sum},
    {"ReduceMean", F::mean},
    {"ReduceMax", F::max},
    {"ReduceMin", F::min},
    {"ReduceProd", F::prod},
    {"ReduceL1", F::l1},
    {"ReduceL2", F::l2},
    {"ReduceLogSum", F::log_sum},
    {"ReduceLogSumExp", F::log_sum_exp},
    {"ReduceSumSquare", F::sum_square},
};

// Shape arithmetic: the number of elements as ReduceProd of a shape, and its kin.
void infer_reduced_contents(const Reduce& op, InferenceContext& context) {
  const auto contents = context.input_contents(0);
  if (!contents || contents->empty()) return;
  Dim result = (*contents)[0];
  for (size_t i = 1; i < contents->size(); ++i) {
    const Dim& x = (*contents)[i];
    switch (op.function) {
      case F::prod: result = result * x; break;
      case F::sum: result = result + x; break;
      case F::max: result = Dim::apply(Dim::Function::max, result, x); break;
      case F::min: result = Dim::apply(Dim::Function::min, result, x); break;
      default: return;
    }
  }
  if (op.function != F::prod && op.function != F::sum && op.function != F::max && op.function != F::min) return;
  if (!result.is_unknown()) context.set_output_contents(0, {result});
}

}  // namespace

bool Reduce::is_name(std::string_view op_type) { return std::ranges::find(kNames, op_type, &OpName<F>::name) != std::end(kNames); }

Reduce Reduce::read(const NodeView& node) {
  Reduce op{.function = enumerator_of(node, kNames)};
  op.axes_are_input = node.opset() >= (op.function == F::sum ? 13 : 18);
  if (!op.axes_are_input) op.axes = node.ints("axes");
  op.keep_dims = node.flag("keepdims", true);
  op.none_for_empty_axes = op.axes_are_input && node.flag("noop_with_empty_axes");
  return op;
}

AxisMask Reduce::reduced(std::span<const int64_t> axes, int rank) const {
  AxisMask mask(static_cast<size_t>(rank), axes.empty() && !none_for_empty_axes);
  for (int64_t axis : axes) mask[static_cast<size_t>(normalize_axis(axis, rank, "axes"))] = true;
  return mask;
}

void infer(const Reduce& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  std::optional<std::vector<int64_t>> axes = op.axes ? op.axes : std::vector<int64_t>();
  if (op.axes_are_input && context.has_input(1)) axes = context.input_ints(1);
  if (!axes) {
    if (!op.keep_dims) return context.set_output(0, x.dtype);
    return context.set_output(0, x.dtype, SymbolicShape(x.dims->size()));
  }
  for (int64_t axis : *axes) context.check_axis("axes", axis, x.rank());
  const AxisMask reduced = op.reduced(*axes, x.rank());
  SymbolicShape dims;
  for (int i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) {
      dims.push_back((*x.dims)[i]);
    } else if (op.keep_dims) {
      dims.push_back(Dim(1));
    }
  }
  context.set_output(0, x.dtype, std::move(dims));
  if (x.rank() == 1 && reduced[0]) infer_reduced_contents(op, context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Reduce)
