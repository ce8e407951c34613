#pragma once

#include <optional>

#include "ops/inference.h"

namespace rh::ops {

/// NegativeLogLikelihoodLoss: ai.onnx 12, 13, 22. SoftmaxCrossEntropyLoss: ai.onnx 12, 13, which takes scores and gives their log-softmax
/// too. Scores [N, C, ...] against labels [N, ...] and weights [C].
struct CrossEntropyLoss {
  enum class Reduction : uint8_t { none, sum, mean };

  bool takes_scores = false;
  Reduction reduction = Reduction::mean;
  std::optional<int64_t> ignore_index;

  static CrossEntropyLoss read(const NodeView& node);
};

void infer(const CrossEntropyLoss& op, InferenceContext& context);

}  // namespace rh::ops
