#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Loop: ai.onnx 1, 11, 13 (sequences), 16 (optionals) on. Inputs: trip count, condition, carried values; outputs: carried values, scan
/// outputs. The body takes iteration number, condition and carried values and gives condition, carried values and scan outputs.
struct Loop {
  int carried = 0;         ///< values that go from iteration to iteration
  int iteration_rank = 0;  ///< rank, 0 or 1, in which the body wants the iteration number
  int condition_rank = 0;  ///< and the condition
  int scans = 0;           ///< scan outputs of the body

  static Loop read(const NodeView& node);
};

void infer(const Loop& op, InferenceContext& context);

}  // namespace rh::ops
