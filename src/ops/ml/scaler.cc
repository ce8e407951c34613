#include "ops/ml/scaler.h"

#include "ops/registry.h"

namespace rh::ops {

Scaler Scaler::read(const NodeView& node) {
  Scaler op{node.floats_or("offset"), node.floats_or("scale")};
  if (op.scales.empty() || op.offsets.size() != op.scales.size()) {
    node.fail("has {} offsets and {} scales, expected equally many, at least 1", op.offsets.size(), op.scales.size());
  }
  return op;
}

void infer(const Scaler&, InferenceContext& context) { context.set_output(0, DType::float32, context.input_tensor(0).dims); }

}  // namespace rh::ops

RH_DEFINE_OP(Scaler)
