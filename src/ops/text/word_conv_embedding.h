#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft WordConvEmbedding: words [count, characters] (0 ends them), embedded by characters [vocabulary, embedding], a convolution
/// [filters, 1, width, embedding] with bias, tanh and the maximum over the word: [count, filters].
struct WordConvEmbedding {
  int64_t filters = 0, width = 0, embedding = 0;  ///< 0: as the weights say

  static WordConvEmbedding read(const NodeView& node);
};

void infer(const WordConvEmbedding& op, InferenceContext& context);

}  // namespace rh::ops
