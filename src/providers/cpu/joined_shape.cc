#include "providers/cpu/joined_shape.h"

#include <algorithm>

namespace rh::cpu {

namespace {

// Whether the sizes but for that of the axis are those of the others.
bool goes_with(const Shape& part, const Shape& others, int axis) {
  if (part.rank() != others.rank()) return false;
  for (int k = 0; k < part.rank(); ++k) {
    if (k != axis && part[k] != others[k]) return false;
  }
  return true;
}

// Whether a part is nothing beside others that it does not go with.
bool adds_nothing(const Shape& part, const Shape& others, int axis) {
  return part == Shape{0} || (part.rank() == others.rank() && part[axis] == 0);
}

// That whose sizes count: it has elements, or it would have some with a size along the axis.
size_t first_of(std::span<const Shape* const> parts, int64_t axis) {
  const auto elements = std::ranges::find_if(parts, [](const Shape* shape) { return shape->elements() > 0; });
  if (elements != parts.end()) return static_cast<size_t>(elements - parts.begin());
  const auto known = std::ranges::find_if(parts, [&](const Shape* shape) {
    const int64_t at = axis < 0 ? axis + shape->rank() : axis;
    for (int k = 0; k < shape->rank(); ++k) {
      if (k != at && (*shape)[k] == 0) return false;
    }
    return shape->rank() > 1;
  });
  return known == parts.end() ? 0 : static_cast<size_t>(known - parts.begin());
}

}  // namespace

Status join_shapes(std::span<const Shape* const> parts, int64_t axis, const char* op, Shape& joined, int& at) {
  const size_t first = first_of(parts, axis);
  const Shape& others = *parts[first];
  joined = others;
  at = normalize_axis(axis, joined.rank(), op);
  joined[at] = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Shape& part = *parts[i];
    if (goes_with(part, others, at)) {
      joined[at] += part[at];
    } else if (!adds_nothing(part, others, at)) {
      return error_status(ErrorCode::invalid_argument, "{}: input {} has shape {}, input {} {}: expected the same off axis {}", op, i,
                          part.to_string(), first, others.to_string(), at);
    }
  }
  return {};
}

}  // namespace rh::cpu
