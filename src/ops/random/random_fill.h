#pragma once

#include <optional>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// RandomNormal, RandomNormalLike, RandomUniform, RandomUniformLike: ai.onnx 1, 22. Random numbers in the shape of an attribute or the
/// input.
struct RandomFill {
  bool normal = false;  ///< otherwise uniform
  bool like = false;    ///< the shape, and the type where it is not given, are the input's
  float first = 0;      ///< mean or low
  float second = 1;     ///< standard deviation or high
  std::vector<int64_t> shape;
  DType dtype = DType::float32;  ///< undefined: the input's
  std::optional<float> seed;

  static RandomFill read(const NodeView& node);
};

void infer(const RandomFill& op, InferenceContext& context);

}  // namespace rh::ops
