#pragma once

#include <optional>

#include "ops/inference.h"

namespace rh::ops {

/// Multinomial: ai.onnx 7, 22. Samples [batch, samples] of classes whose unnormalised log-probabilities are [batch, classes].
struct Multinomial {
  int64_t samples = 1;
  DType dtype = DType::int32;
  std::optional<float> seed;

  static Multinomial read(const NodeView& node);
};

void infer(const Multinomial& op, InferenceContext& context);

}  // namespace rh::ops
