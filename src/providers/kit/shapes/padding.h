#pragma once

#include "tensor/tensor.h"

namespace rh::kit {

/// Copies the elements that two tensors of one rank have in common, counted from the front of each axis: into a larger one that is padded,
/// or out of it. Not for strings.
void copy_common(const TensorView& from, const MutableView& to);

}  // namespace rh::kit
