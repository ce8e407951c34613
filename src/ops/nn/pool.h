#pragma once

#include "ops/nn/window.h"

namespace rh::ops {

/// MaxPool: ai.onnx 1, 8, 10, 11, 12, 22. AveragePool: 1, 7, 10, 11, 19, 22. LpPool: 2, 11, 18, 22.
/// GlobalMaxPool, GlobalAveragePool: 1, 22. GlobalLpPool: 2, 22.
struct Pool {
  enum class Kind : uint8_t { max, average, lp } kind = Kind::max;
  bool global = false;  ///< the window is all spatial axes
  Window window;        ///< not for global pools
  bool count_include_pad = false;
  bool column_major_indices = false;  ///< storage_order 1
  int64_t p = 2;

  static Pool read(const NodeView& node);
};

void infer(const Pool& op, InferenceContext& context);

}  // namespace rh::ops
