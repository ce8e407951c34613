#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// EmbedLayerNormalization of com.microsoft: normalised rows of word + position (+ segment) embeddings. Inputs: input_ids [batch, length],
/// segment_ids, tables [count, H] of words, positions and segments, gamma, beta, mask, position_ids. Output 1 has the number of tokens
/// of each sequence whose mask is 1, output 2 the sums before they are normalised.
struct EmbedLayerNormalization {
  float epsilon = 1e-12f;

  static EmbedLayerNormalization read(const NodeView& node);
};

void infer(const EmbedLayerNormalization& op, InferenceContext& context);

}  // namespace rh::ops
