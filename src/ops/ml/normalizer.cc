#include "ops/ml/normalizer.h"

#include <string>

#include "ops/registry.h"

namespace rh::ops {

Normalizer Normalizer::read(const NodeView& node) {
  const std::string norm = node.string_or("norm", "MAX");
  if (norm == "MAX") return {Norm::max};
  if (norm == "L1") return {Norm::l1};
  if (norm == "L2") return {Norm::l2};
  node.fail("attribute 'norm' is '{}', expected MAX, L1 or L2", norm);
}

void infer(const Normalizer&, InferenceContext& context) { context.set_output(0, DType::float32, context.input_tensor(0).dims); }

}  // namespace rh::ops

RH_DEFINE_OP(Normalizer)
