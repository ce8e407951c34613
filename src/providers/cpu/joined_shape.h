#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "tensor/shape.h"

namespace rh::cpu {

/// The shape of tensors that are joined along an axis, and the axis itself. What has no elements adds nothing, whatever its other sizes:
/// loops without iterations give such, of which no more is known. Else an error that names `op`.
Status join_shapes(std::span<const Shape* const> parts, int64_t axis, const char* op, Shape& joined, int& at);

}  // namespace rh::cpu
