#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// The element type of input i, which must be a sequence; unknown where that is. Throws Error{invalid_graph} otherwise.
ValueType sequence_element(const InferenceContext& context, int i);

}  // namespace rh::ops
