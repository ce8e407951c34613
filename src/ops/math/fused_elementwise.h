#pragma once

#include <array>
#include <optional>
#include <vector>

#include "graph/attribute.h"
#include "ops/inference.h"

namespace rh::ops {

/// FusedElementwise of our own domain `roundhouse`: element-wise operators of the standard, one after the other, under broadcasting of the
/// inputs. `operators` names them; `operands` says, operator by operator, what each takes: numbers below that of the inputs are inputs,
/// those from there on the results of earlier operators. `numbers` are two an operator: its attributes, or the bounds of Clip. Of the
/// inputs that `rotated` lists, [-second half, first half] of the last dimension is meant, or where `rotates_pairs` is 1, each pair of
/// neighbours so. The last result is output 0; `results` lists operators whose results are further outputs, numbers all of them, for which
/// all inputs together have no larger shape than their own.
struct FusedElementwise {
  static constexpr size_t kMaxSteps = 32, kMaxInputs = 16;

  enum class Function : uint8_t {
#define RH_STEP(function, name, operands, attributes) function,
#include "ops/math/fused_elementwise_steps.inc"
#undef RH_STEP
    clip,
    where,
  };
  struct Step {
    Function function = Function::add;
    std::array<int, 3> operands = {};  ///< as many as the function takes
    float alpha = 0, beta = 0;
  };

  std::vector<Step> steps;
  std::vector<int64_t> rotated;
  bool rotates_pairs = false;
  std::vector<int64_t> results;

  static int operand_count(Function function);
  /// Comparisons give booleans, all others their operands' type.
  static bool gives_boolean(Function function);

  static FusedElementwise read(const NodeView& node);
  std::vector<Attribute> attributes() const;
  /// The step that a node of the standard is by itself, without operands, where broadcasting is numpy's; Max, Min and Sum of more than two
  /// inputs repeat it. Nothing where it is none, or where its numbers are not constant.
  static std::optional<Step> of(const NodeView& node);
};

void infer(const FusedElementwise& op, InferenceContext& context);

}  // namespace rh::ops
