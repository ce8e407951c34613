#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Concat: ai.onnx 1 (axis 1 unless given), 4 (axis required), 11 (negative axis), 13 on.
struct Concat {
  int64_t axis = 1;  ///< as written

  static Concat read(const NodeView& node) { return {.axis = node.opset() < 4 ? node.int_or("axis", 1) : node.required_int("axis")}; }
};

/// The shape of inputs `first`, `first` + `step`, ... joined along an axis: what has no elements adds nothing. Nothing where no rank is
/// known.
std::optional<SymbolicShape> joined_dims(const InferenceContext& context, int64_t axis, int first, int step);

void infer(const Concat& op, InferenceContext& context);

}  // namespace rh::ops
