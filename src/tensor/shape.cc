#include "tensor/shape.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "tensor/extent.h"

namespace rh {

int64_t Shape::product(int first, int last) const {
  int64_t result = 1;
  bool overflow = false;
  for (int i = first; i < last; ++i) {
    if ((*this)[i] == 0) return 0;
    overflow |= __builtin_mul_overflow(result, (*this)[i], &result);
  }
  return overflow ? std::numeric_limits<int64_t>::max() : result;
}

int64_t extent(const Shape& shape) {
  int64_t result = 1;
  for (int64_t dim : shape) {
    if (dim != 0 && __builtin_mul_overflow(result, dim, &result)) return std::numeric_limits<int64_t>::max();
  }
  return result;
}

std::string to_string(std::span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

std::string Shape::to_string() const { return rh::to_string(std::span<const int64_t>(*this)); }

int normalize_axis(int64_t axis, int rank, const char* what) {
  if (axis < -rank || axis >= rank) {
    fail(ErrorCode::fail, "{} is {}, expected a value in [{}, {}] for rank {}", what, axis, -rank, rank - 1, rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  // Those of a shape that no tensor has may wrap around.
  for (int i = shape.rank() - 2; i >= 0; --i) {
    strides[i] = static_cast<int64_t>(static_cast<uint64_t>(strides[i + 1]) * static_cast<uint64_t>(shape[i + 1]));
  }
  return strides;
}

Shape broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  const int offset = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    int64_t& dim = result[offset + i];
    if (shorter[i] == dim || shorter[i] == 1) continue;
    if (dim != 1) fail(ErrorCode::invalid_argument, "shapes {} and {} cannot be broadcast together", a.to_string(), b.to_string());
    dim = shorter[i];
  }
  return result;
}

}  // namespace rh
