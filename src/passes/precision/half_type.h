#pragma once

#include <string>

#include "tensor/tensor.h"

namespace rh::precision {

/// What float16 or bfloat16 can hold.
struct HalfRange {
  double most;          ///< the largest finite value
  double least_normal;  ///< smaller values lose bits, or become 0
};

HalfRange half_range(DType half);

/// Which elements of a constant have to keep the precision of the type.
enum class Needed : uint8_t {
  finite,   ///< none: small ones are added to what is larger
  largest,  ///< those near the largest magnitude: an error of another is small beside it
  each,     ///< all: the operator divides by them
};

/// Why a float32 constant cannot be held in the half type: an element overflows, or is flushed to zero. Empty where it can. Infinities and
/// NaN pass, since both types have them.
std::string why_unfit(const Tensor& floats, DType half, Needed needed);

/// The elements of a float32 tensor, rounded to nearest even.
Tensor to_half(const Tensor& floats, DType half);

}  // namespace rh::precision
