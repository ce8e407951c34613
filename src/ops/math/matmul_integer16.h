#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft MatMulInteger16: the product of 16-bit integers, with sums of 32 bits that wrap.
struct MatMulInteger16 {
  static MatMulInteger16 read(const NodeView&) { return {}; }
};

void infer(const MatMulInteger16& op, InferenceContext& context);

}  // namespace rh::ops
