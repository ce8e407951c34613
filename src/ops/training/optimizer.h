#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// ai.onnx.preview.training 1: Adagrad, Adam, Momentum. One step of gradient descent. Inputs: learning rate, update count, then all tensors
/// X, all gradients, and all tensors of each state; outputs: the new X and the new states.
struct Optimizer {
  enum class Kind : uint8_t { adagrad, adam, momentum, nesterov };

  Kind kind = Kind::adagrad;
  float alpha = 0, beta = 0, epsilon = 0, decay = 0;
  float norm = 0, norm_after = 0;  ///< L2 regularisation before and after the step
  int tensors = 0;                 ///< that are updated
  int states = 1;                  ///< of each

  static Optimizer read(const NodeView& node);
};

void infer(const Optimizer& op, InferenceContext& context);

}  // namespace rh::ops
