#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft BifurcationDetector, of aggressive decoding: the tokens so far and those predicted up to the first that the source does
/// not have, and where the source goes on after the last n-gram of them (-1 where it has that n-gram not exactly once).
struct BifurcationDetector {
  int64_t least = 1, most = 3;  ///< sizes of n-grams

  static BifurcationDetector read(const NodeView& node);
};

void infer(const BifurcationDetector& op, InferenceContext& context);

}  // namespace rh::ops
