#pragma once

#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// The type without dimensions that the enclosing graph could not resolve: those with symbols that no input of the node, implicit ones
/// included, has.
ValueType visible_outside(const InferenceContext& context, const ValueType& type);

/// Values that a body takes and gives back, once an iteration: the types that hold in every iteration.
struct CarriedTypes {
  std::vector<ValueType> inputs;   ///< all inputs of the body
  std::vector<ValueType> outputs;  ///< all outputs of the body
};

/// Infers a loop body whose inputs [first_input, first_input + count) are its outputs [first_output, first_output + count) of the iteration
/// before. Dimensions and ranks that change from one iteration to the next are dropped from `inputs`.
CarriedTypes infer_loop_body(const InferenceContext& context, std::vector<ValueType> inputs, int first_input, int first_output, int count);

/// What a carried value is after the loop, which may also have had no iteration.
ValueType after_loop(const InferenceContext& context, const CarriedTypes& types, int input, int output);

}  // namespace rh::ops
