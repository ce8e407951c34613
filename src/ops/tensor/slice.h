#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Slice: ai.onnx 1 (attributes), 10 (inputs, steps), 11 (negative axes), 13 on.
struct Slice {
  IntsOperand starts, ends;
  IntsOperand axes;   ///< left out: 0, 1, ...
  IntsOperand steps;  ///< left out: 1

  static Slice read(const NodeView& node);
};

/// Where a slice of a dimension of `size` begins and how many elements it takes, after the standard's clamping.
struct SliceRange {
  int64_t start, count;
};
SliceRange slice_range(int64_t size, int64_t start, int64_t end, int64_t step);

void infer(const Slice& op, InferenceContext& context);

}  // namespace rh::ops
