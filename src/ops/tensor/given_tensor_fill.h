#pragma once

#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// GivenTensorFill, which the standard had up to opset 9: the numbers of an attribute under a shape.
struct GivenTensorFill {
  enum class Shape : uint8_t { attribute, contents, of_input } shape_from = Shape::attribute;
  std::vector<int64_t> shape;        ///< where it is an attribute
  std::vector<int64_t> extra_shape;  ///< behind the shape that the input has or holds
  std::vector<float> values;

  static GivenTensorFill read(const NodeView& node);
};

void infer(const GivenTensorFill& op, InferenceContext& context);

}  // namespace rh::ops
