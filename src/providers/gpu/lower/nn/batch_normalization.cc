#include "ops/nn/normalization.h"
#include "providers/gpu/lower/elementwise/chain.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_batch_normalization(const NodeView& node) {
  if (ops::BatchNormalization::read(node).training) return kit::refuse(RhRefusalCode_ATTRIBUTE, "it has no kernel for training");
  if (!ops::BatchNormalization::read(node).spatial)
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of BatchNormalization has parameters a channel");
  if (node.node().outputs.size() > 1) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of BatchNormalization gives one output");
  if (rank_of(node, 0) < 2) return kit::refuse(RhRefusalCode_SHAPE, "its kernel of BatchNormalization takes ranks from 2 on");
  return require_types(node, 0, kFloats);
}

// A function of elements, whose other operands go with the channels.
void lower_batch_normalization(const NodeView& node, Lowering& lowering) {
  const Shape shape = lowering.shape(node.node().inputs[0]);
  Shape of_channels = {shape[1]};
  for (int axis = 2; axis < shape.rank(); ++axis) of_channels.push_back(1);
  const std::optional<Shape> channels(of_channels);
  const double epsilon = ops::BatchNormalization::read(node).epsilon;
  lower_expression(
      node.node(), lowering,
      {"($0 - $3) * ($1 / m_sqrt($4 + #0)) + $2", node.node().inputs, {epsilon}, 0, {{}, channels, channels, channels, channels}});
}

}  // namespace rh::gpu
