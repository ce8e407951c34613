#include "ops/reduction/arg_reduce.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

namespace {

constexpr size_t kCandidateBytes = 16;  // of a thread, in shared memory

}  // namespace

kit::Support supports_arg_reduce(const NodeView& node) {
  if (rank_of(node, 0) == 0) return kit::refuse(RhRefusalCode_SHAPE, "its kernel of {} takes no scalars", node.op_type());
  return {};
}

void lower_arg_reduce(const NodeView& node, Lowering& lowering) {
  const ops::ArgReduce op = ops::ArgReduce::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape in = lowering.shape(x);
  if (lowering.shape(y).elements() == 0) return;
  const int axis = normalize_axis(op.axis, in.rank());
  if (in[axis] == 0) node.fail("dimension {} has no elements", axis);
  LineArguments arguments{};
  arguments.size = in[axis];
  arguments.step = in.product(axis + 1, in.rank());
  arguments.lines = in.elements() / arguments.size;
  const unsigned threads = threads_for_row(arguments.size);
  lowering.launch({"select", fmt::format("arg_reduce<{}, {}, {}>", element_name(lowering.dtype(x)), op.max, op.select_last)},
                  over_blocks(arguments.lines, threads, threads * kCandidateBytes), arguments,
                  {{offsetof(LineArguments, x), x}, {offsetof(LineArguments, y), y, true}});
}

}  // namespace rh::gpu
