#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft MurmurHash3: the 32-bit hash (MurmurHash3_x86_32) of the bytes of each element.
struct MurmurHash3 {
  uint32_t seed = 0;
  bool positive = true;  ///< the hash as uint32 rather than int32

  static MurmurHash3 read(const NodeView& node);
};

void infer(const MurmurHash3& op, InferenceContext& context);

}  // namespace rh::ops
