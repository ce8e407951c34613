#pragma once

#include <optional>

#include "ops/inference.h"

namespace rh::ops {

/// Bernoulli: ai.onnx 15, 22. 1 with the probability that the input says, else 0.
struct Bernoulli {
  DType dtype = DType::undefined;  ///< undefined: the input's
  std::optional<float> seed;

  static Bernoulli read(const NodeView& node);
};

void infer(const Bernoulli& op, InferenceContext& context);

}  // namespace rh::ops
