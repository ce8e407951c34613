#include "ops/nn/normalization.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_group_normalization(const NodeView& node) {
  if (rank_of(node, 0) < 2) return kit::refuse(RhRefusalCode_SHAPE, "its kernel of {} takes ranks from 2 on", node.op_type());
  constexpr int kWithoutAttributes = 6;
  if (node.opset() < kWithoutAttributes) {
    return kit::refuse(RhRefusalCode_OPSET, "its kernel of {} is for opset {} and newer", node.op_type(), kWithoutAttributes);
  }
  return require_types(node, 0, kFloats);
}

void lower_group_normalization(const NodeView& node, Lowering& lowering) {
  const ops::GroupNormalization op = ops::GroupNormalization::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape shape = lowering.shape(x);
  if (shape.elements() == 0) return;
  GroupNormalizationArguments arguments{};
  arguments.groups = op.groups > 0 ? op.groups : shape[1];
  arguments.rows = shape[0] * arguments.groups;
  arguments.channels = shape[1] / arguments.groups;
  arguments.inner = shape.product(2, shape.rank());
  arguments.epsilon = op.epsilon;
  arguments.is_of_groups = op.per_group_scale ? 1 : 0;
  const unsigned threads = threads_for_row(arguments.channels * arguments.inner);
  lowering.launch({"group_normalization", fmt::format("normalize_group<{}>", element_name(lowering.dtype(x)))},
                  over_blocks(arguments.rows, threads, threads * sizeof(double)), arguments,
                  {{offsetof(GroupNormalizationArguments, x), x},
                   {offsetof(GroupNormalizationArguments, scale), node.node().inputs[1]},
                   {offsetof(GroupNormalizationArguments, bias), node.node().inputs[2]},
                   {offsetof(GroupNormalizationArguments, y), y, true}});
}

}  // namespace rh::gpu
