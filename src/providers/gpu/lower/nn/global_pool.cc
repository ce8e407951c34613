#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_global_pool(const NodeView& node) {
  if (rank_of(node, 0) < 2) return kit::refuse(RhRefusalCode_SHAPE, "its kernel of {} takes ranks from 2 on", node.op_type());
  return require_types(node, 0, kFloats);
}

// A reduction of what lies behind the channels.
void lower_global_pool(const NodeView& node, Lowering& lowering) {
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape in = lowering.shape(x);
  if (in.elements() == 0) return;
  ReduceArguments arguments{};
  arguments.kept = in[0] * in[1];
  arguments.reduced = in.elements() / arguments.kept;
  arguments.kept_rank = arguments.reduced_rank = 1;
  arguments.kept_sizes[0] = static_cast<unsigned>(arguments.kept);
  arguments.kept_strides[0] = arguments.reduced;
  arguments.reduced_sizes[0] = static_cast<unsigned>(arguments.reduced);
  arguments.reduced_strides[0] = 1;
  const unsigned threads = threads_for_row(arguments.reduced);
  const bool is_max = node.op_type() == "GlobalMaxPool";
  lowering.launch({"reduce", fmt::format("reduce<{}, rh::Reduce{}, {}>", element_name(lowering.dtype(x)), is_max ? "Max" : "Mean", is_max)},
                  over_blocks(arguments.kept, threads, threads * sizeof(double)), arguments,
                  {{offsetof(ReduceArguments, x), x}, {offsetof(ReduceArguments, y), y, true}});
}

}  // namespace rh::gpu
