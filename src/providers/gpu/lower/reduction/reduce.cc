#include "ops/reduction/reduce.h"

#include <array>
#include <limits>

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"
#include "providers/gpu/plan/strides.h"

namespace rh::gpu {

namespace {

using Function = ops::Reduce::Function;

bool is_of_floats(Function function) {
  return function == Function::l2 || function == Function::log_sum || function == Function::log_sum_exp || function == Function::mean;
}

bool starts_with_first(Function function) { return function == Function::max || function == Function::min; }

std::string call_of(Function function, std::string_view type) {
  if (function == Function::log_sum_exp) return fmt::format("reduce_log_sum_exp<{}>", type);
  constexpr std::string_view kNames[] = {"Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"};
  return fmt::format("reduce<{}, rh::Reduce{}, {}>", type, kNames[static_cast<size_t>(function)], starts_with_first(function));
}

/// What nothing is reduced to.
double result_of_nothing(Function function) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (function) {
    case Function::prod: return 1;
    case Function::mean: return std::numeric_limits<double>::quiet_NaN();
    case Function::min: return kInfinity;
    case Function::max:
    case Function::log_sum:
    case Function::log_sum_exp: return -kInfinity;
    default: return 0;
  }
}

void lower_nothing(const NodeView& node, Function function, Lowering& lowering) {
  const ValueId y = node.node().outputs[0];
  const bool is_integral = is_integer(lowering.dtype(y));
  if (is_integral && starts_with_first(function)) node.fail("integers without elements have no {}", node.op_type());
  FillArguments arguments{};
  arguments.n = lowering.shape(y).elements();
  arguments.value = result_of_nothing(function);
  arguments.integer = function == Function::prod ? 1 : 0;
  lowering.launch({"move", fmt::format("fill<{}, {}>", element_name(lowering.dtype(y)), is_integral)}, over_elements(arguments.n),
                  arguments, {{offsetof(FillArguments, y), y, true}});
}

/// The sizes and strides of the dimensions for which `is_reduced` is `which`.
StridedDims dims_of(const Shape& shape, const ops::AxisMask& is_reduced, bool which) {
  Shape sizes, strides;
  const Shape all = strides_of(shape);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (is_reduced[static_cast<size_t>(axis)] != which) continue;
    sizes.push_back(shape[axis]);
    strides.push_back(all[axis]);
  }
  const std::array one = {strides};
  return collapse(sizes, one);
}

}  // namespace

kit::Support supports_reduce(const NodeView& node) {
  const Function function = ops::Reduce::read(node).function;
  const DType dtype = dtype_of_input(node, 0);
  if (dtype == DType::boolean || (is_of_floats(function) && is_integer(dtype))) {
    return kit::refuse(RhRefusalCode_TYPE, "its kernel of {} does not take {}", node.op_type(), to_string(dtype));
  }
  return {};
}

void lower_reduce(const NodeView& node, Lowering& lowering) {
  const ops::Reduce op = ops::Reduce::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape in = lowering.shape(x), out = lowering.shape(y);
  if (out.elements() == 0) return;
  if (in.elements() == 0) return lower_nothing(node, op.function, lowering);
  std::vector<int64_t> axes = op.axes.value_or(std::vector<int64_t>());
  if (op.axes_are_input && node.has_input(1)) axes = lowering.ints(node, ops::IntsOperand::from_input(node, 1)).value();
  const ops::AxisMask is_reduced = op.reduced(axes, in.rank());
  const StridedDims kept = dims_of(in, is_reduced, false), reduced = dims_of(in, is_reduced, true);
  ReduceArguments arguments{};
  arguments.kept = out.elements();
  arguments.reduced = in.elements() / out.elements();
  arguments.kept_rank = kept.rank();
  arguments.reduced_rank = reduced.rank();
  fill(arguments.kept_sizes, kept.sizes);
  fill(arguments.kept_strides, kept.strides[0]);
  fill(arguments.reduced_sizes, reduced.sizes);
  fill(arguments.reduced_strides, reduced.strides[0]);
  const unsigned threads = threads_for_row(arguments.reduced);
  lowering.launch({"reduce", call_of(op.function, element_name(lowering.dtype(x)))},
                  over_blocks(arguments.kept, threads, threads * sizeof(double)), arguments,
                  {{offsetof(ReduceArguments, x), x}, {offsetof(ReduceArguments, y), y, true}});
}

}  // namespace rh::gpu
