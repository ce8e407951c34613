#pragma once

#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

/// A copy of elements from strided places to strided places; offsets and strides are in elements.
struct Move {
  ValueId from, to;
  Shape shape;  ///< of what is copied
  Shape from_strides, to_strides;
  int64_t from_offset = 0, to_offset = 0;
};

void lower_move(Lowering& lowering, const Move& move);

/// Whether a node gives or takes elements that the kernels move: of 1, 2, 4 or 8 bytes.
inline bool is_movable(DType dtype) { return !mover_name(dtype).empty(); }

}  // namespace rh::gpu
