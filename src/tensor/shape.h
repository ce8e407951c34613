#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/inline_vector.h"

namespace rh {

/// Concrete dimensions, each >= 0. Rank 0 is a scalar.
class Shape : public InlineVector<int64_t, 8> {
 public:
  using InlineVector::InlineVector;

  int rank() const { return static_cast<int>(size()); }
  /// Product of all dimensions; 1 for a scalar. Overflow saturates at INT64_MAX.
  int64_t elements() const { return product(0, rank()); }
  /// Product of the dimensions [first, last).
  int64_t product(int first, int last) const;
  /// "[2, 3]".
  std::string to_string() const;
};

/// `axis` in [-rank, rank) as an index in [0, rank). Throws Error{fail} naming `what`, the axis and the range allowed.
int normalize_axis(int64_t axis, int rank, const char* what = "axis");

/// Row-major strides in elements.
Shape strides_of(const Shape& shape);

/// The shape that numpy-style broadcasting of a and b gives; throws Error{invalid_argument} where they do not fit.
Shape broadcast(const Shape& a, const Shape& b);

std::string to_string(std::span<const int64_t> dims);

}  // namespace rh
