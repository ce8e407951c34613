#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Our own ByteTable: x of int8 or uint8, and 256 bytes of the result's type; y[i] = table[x[i] as an unsigned byte].
struct ByteTable {
  static ByteTable read(const NodeView&) { return {}; }
};

void infer(const ByteTable& op, InferenceContext& context);

}  // namespace rh::ops
