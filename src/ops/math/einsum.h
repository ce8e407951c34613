#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// Einsum: ai.onnx 12, 28.
struct Einsum {
  /// A letter, or the dimension that lies kEllipsis - label before the last one of "...".
  using Label = int;
  static constexpr Label kEllipsis = 1 << 20;

  struct Labels {
    std::vector<std::vector<Label>> inputs;
    std::vector<Label> output;
  };

  std::string equation;
  std::vector<std::string> terms;  ///< '.' stands for "..."
  std::string output;

  static Einsum read(const NodeView& node);
  /// The label of each dimension. Throws Error{invalid_graph} where a rank does not fit its term.
  Labels labels(std::span<const int> ranks) const;
};

void infer(const Einsum& op, InferenceContext& context);

}  // namespace rh::ops
