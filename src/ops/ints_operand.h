#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// Integers (axes, pads, sizes) that old opsets give as an attribute and newer ones as an input.
struct IntsOperand {
  std::optional<std::vector<int64_t>> values;  ///< of the attribute, or of an input that is constant
  int input = -1;                              ///< where they come as an input

  static IntsOperand from_attribute(const NodeView& node, std::string_view name) { return {node.ints(name), -1}; }
  static IntsOperand from_input(const NodeView& node, int input);

  bool is_given(const InferenceContext& context) const { return values.has_value() || (input >= 0 && context.has_input(input)); }
  /// Nothing where the operand is left out or not even the number of its elements is known.
  std::optional<SymbolicShape> contents(const InferenceContext& context) const;
  /// The same where every element is a number.
  std::optional<std::vector<int64_t>> ints(const InferenceContext& context) const;
};

}  // namespace rh::ops
