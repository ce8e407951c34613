#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// GRUUnit, which the standard had up to opset 9: one step of a GRU from the sums of its gates. Inputs: the states before [1, N, D], reset,
/// update and output gates [1, N, 3 D], lengths of the sequences [N], the number of the step.
struct GRUUnit {
  bool drop_states = false;  ///< what has ended gives 0; otherwise it keeps its state

  static GRUUnit read(const NodeView& node) { return {.drop_states = node.flag("drop_states")}; }
};

void infer(const GRUUnit& op, InferenceContext& context);

}  // namespace rh::ops
