#pragma once

#include "providers/cpu/kernel.h"
#include "tensor/convert.h"

namespace rh::cpu {

/// convert_elements over whole tensors of one shape, in parallel.
void convert(const Parallel& parallel, const TensorView& from, const MutableView& to, const Conversion& conversion = {});

/// The tensor in another element type, in scratch memory; the tensor itself where it has that type.
TensorView converted(RunContext& context, const TensorView& view, DType dtype);

/// For kernels that compare elements: the types they are written for, and which of these holds all numbers of `dtype`.
using OrderedTypes = Types<float, double, int32_t, int64_t, uint64_t>;
DType ordered_type(DType dtype);

}  // namespace rh::cpu
