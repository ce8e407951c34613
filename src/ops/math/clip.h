#pragma once

#include <optional>

#include "ops/inference.h"

namespace rh::ops {

/// Clip: ai.onnx 1, 6, 11, 12, 13. Where min is above max, every element becomes max. A bound that is not given is the least or largest
/// finite number: of the type where bounds are inputs, of float where they are attributes.
struct Clip {
  /// Attributes before opset 11; after it the bounds are inputs 1 and 2.
  std::optional<float> min, max;
  bool bounds_are_inputs = true;

  static Clip read(const NodeView& node);
  /// The largest bound that stands for none, of a floating type. Such a bound for the other side is its negative.
  double most(DType dtype) const;
};

/// The largest finite number of a floating type.
double largest_finite(DType dtype);
/// One number of a floating type, infinite where it is too large.
Tensor clip_bound(DType dtype, double value);

void infer(const Clip& op, InferenceContext& context);

}  // namespace rh::ops
