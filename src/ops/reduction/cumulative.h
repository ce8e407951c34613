#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// CumSum: ai.onnx 11, 14. CumProd: 26. The axis is input 1.
struct Cumulative {
  bool product = false;
  bool exclusive = false;  ///< element i covers those before i
  bool reverse = false;

  static Cumulative read(const NodeView& node);
};

void infer(const Cumulative& op, InferenceContext& context);

}  // namespace rh::ops
