#include "providers/kit/shapes/padding.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace rh::kit {

namespace {

void copy_axis(const TensorView& from, const MutableView& to, int axis, const std::byte* source, std::byte* target) {
  const size_t element = bytes_of(from.dtype(), 1);
  const auto stride = [&](const Shape& shape) {
    size_t bytes = element;
    for (int i = axis + 1; i < shape.rank(); ++i) bytes *= static_cast<size_t>(shape[i]);
    return bytes;
  };
  const auto count = static_cast<size_t>(std::min(from.shape()[axis], to.shape()[axis]));
  if (axis == from.rank() - 1) {
    if (count > 0) std::memcpy(target, source, count * element);
    return;
  }
  const size_t step = stride(from.shape()), target_step = stride(to.shape());
  for (size_t i = 0; i < count; ++i) copy_axis(from, to, axis + 1, source + i * step, target + i * target_step);
}

}  // namespace

void copy_common(const TensorView& from, const MutableView& to) {
  if (from.dtype() != to.dtype() || from.rank() != to.rank() || from.dtype() == DType::string) {
    fail(ErrorCode::invalid_argument, "elements of {} are not copied into {}", from.shape().to_string(), to.shape().to_string());
  }
  if (from.elements() == 0 || to.elements() == 0) return;
  const auto* source = static_cast<const std::byte*>(from.raw());
  auto* target = static_cast<std::byte*>(to.raw());
  if (from.shape() == to.shape() || from.rank() == 0) {
    std::memcpy(target, source, from.bytes());
    return;
  }
  copy_axis(from, to, 0, source, target);
}

}  // namespace rh::kit
