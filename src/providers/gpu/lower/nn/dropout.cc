#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

// Outside of training it gives its input.
kit::Support supports_dropout(const NodeView& node) {
  if (node.has_output(1)) return kit::refuse(RhRefusalCode_ATTRIBUTE, "its Dropout gives no mask");
  if (node.has_input(2)) {
    const Tensor* training = node.constant_input(2);
    if (!training || element_as_int(training->view(), 0) != 0) return kit::refuse(RhRefusalCode_ATTRIBUTE, "it has no kernel for training");
  }
  constexpr int kWithoutTraining = 7;
  if (node.opset() < kWithoutTraining) {
    return kit::refuse(RhRefusalCode_OPSET, "its Dropout is that of opset {} and newer", kWithoutTraining);
  }
  return {};
}

void lower_dropout(const NodeView& node, Lowering& lowering) { lowering.view(node.node().outputs[0], node.node().inputs[0]); }

}  // namespace rh::gpu
