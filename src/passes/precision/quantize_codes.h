#pragma once

#include <cstdint>
#include <vector>

#include "passes/precision/calibration.h"
#include "tensor/tensor.h"

namespace rh::precision {

/// What a code of 8 bits stands for: (code - zero_point) * scale.
struct Quantization {
  float scale = 1;
  int zero_point = 0;
};

/// Of a value that comes with a run, in int8 or uint8. Symmetric: the zero point is in the middle of the codes. Throws
/// Error{invalid_argument} naming the tensor where the entry's zero point is no code of the type.
Quantization quantization_of(const std::string& name, const TensorScale& entry, DType codes, bool symmetric);

/// The range of the elements of a float32 tensor, 0 included.
TensorScale range_of(const Tensor& floats);

/// The scales of symmetric int8 codes: one an index of `axis`, or one for all where it is negative.
std::vector<float> weight_scales(const Tensor& floats, int axis);

/// round(x / scale) + zero_point, saturated, in int8, uint8 or int32; `scales` are one for all or one an index of `axis`.
Tensor quantize(const Tensor& floats, DType codes, const std::vector<float>& scales, int axis, int zero_point);

}  // namespace rh::precision
