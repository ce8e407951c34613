#pragma once

#include <string>

#include "ops/inference.h"

namespace rh::ops {

/// RegexFullMatch: ai.onnx 20. Whether each string matches the pattern (RE2's syntax) from end to end.
struct RegexFullMatch {
  std::string pattern;

  static RegexFullMatch read(const NodeView& node) { return {node.required_string("pattern")}; }
};

void infer(const RegexFullMatch& op, InferenceContext& context);

}  // namespace rh::ops
