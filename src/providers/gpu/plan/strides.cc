#include "providers/gpu/plan/strides.h"

#include <algorithm>

namespace rh::gpu {

StridedDims collapse(const Shape& shape, std::span<const Shape> strides) {
  StridedDims dims;
  dims.strides.resize(strides.size());
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const int64_t size = shape[axis];
    if (size == 1) continue;
    bool joins = !dims.sizes.empty();
    for (size_t i = 0; joins && i < strides.size(); ++i) joins = strides[i][axis] == dims.strides[i].back() * dims.sizes.back();
    if (joins) {
      dims.sizes.back() *= size;
      continue;
    }
    dims.sizes.push_back(size);
    for (size_t i = 0; i < strides.size(); ++i) dims.strides[i].push_back(strides[i][axis]);
  }
  return dims;
}

Shape broadcast_strides(const Shape& operand, const Shape& to) {
  const Shape own = strides_of(operand);
  Shape strides;
  for (int axis = 0; axis < to.rank(); ++axis) {
    const int at = axis - (to.rank() - operand.rank());
    strides.push_back(at < 0 || operand[at] == 1 ? 0 : own[at]);
  }
  return strides;
}

}  // namespace rh::gpu
