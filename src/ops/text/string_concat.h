#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// StringConcat: ai.onnx 20. Joins the strings of two inputs, which are broadcast, one to one.
struct StringConcat {
  static StringConcat read(const NodeView&) { return {}; }
};

void infer(const StringConcat& op, InferenceContext& context);

}  // namespace rh::ops
