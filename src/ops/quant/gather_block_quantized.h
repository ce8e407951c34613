#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// GatherBlockQuantized: com.microsoft 1. Gather from data that is quantised in blocks along one axis; an index out of range gives zeros.
/// Inputs data (int4, uint4, codes in uint8 packed along the last axis, FP8, FP4), indices, scales, zero_points.
struct GatherBlockQuantized {
  int64_t gather_axis = 0, quantize_axis = 1;  ///< as written
  int64_t block_size = 128;                    ///< 0: all of the axis (FP8 and FP4)
  int64_t bits = 4;                            ///< of codes in uint8

  /// Codes that share a byte of uint8 data.
  int64_t codes_per_byte(DType data) const { return data == DType::uint8 ? 8 / bits : 1; }
  static GatherBlockQuantized read(const NodeView& node);
};

void infer(const GatherBlockQuantized& op, InferenceContext& context);

}  // namespace rh::ops
