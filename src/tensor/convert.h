#pragma once

#include "tensor/tensor.h"

namespace rh {

/// How values that the target type cannot hold are treated; the names are those of the ONNX operator Cast.
struct Conversion {
  enum class Rounding : uint8_t { up, down, nearest };
  bool saturate = true;              ///< 8-bit floats: the largest finite value in place of infinity or NaN
  Rounding rounding = Rounding::up;  ///< of float8e8m0: away from zero, towards zero, nearest with ties up
};

/// A range of elements of a conversion may begin at a multiple of this.
inline constexpr int64_t kConversionBlock = 1024;

/// Converts elements [begin, end) between any types but complex ones, as ONNX Cast does: floats to integers truncate, integers keep their
/// low bits, everything but 0 is true, strings are numbers in decimal or scientific notation. `begin` is a multiple of kConversionBlock.
/// Throws Error{invalid_argument} for a string that is no number, Error{not_implemented} for complex types.
void convert_elements(const TensorView& from, const MutableView& to, int64_t begin, int64_t end, const Conversion& conversion = {});

}  // namespace rh
