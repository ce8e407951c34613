#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// EmbedLayerNormalization of com.microsoft: normalised rows of word + position (+ segment) embeddings. Inputs: input_ids [batch, length],
/// segment_ids, tables [count, H] of words, positions and segments, gamma, beta, mask, position_ids. Output 1 has the number of tokens
/// of each sequence whose mask is 1, output 2 the sums before they are normalised. In QEmbedLayerNormalization tables, gamma and beta are
/// 8-bit codes, with a scale and a zero point each behind the mask; there are no position_ids.
struct EmbedLayerNormalization {
  float epsilon = 1e-12f;
  bool quantized = false;

  int position_ids() const { return quantized ? -1 : 8; }
  /// Scale and zero point of inputs 2 to 6.
  int scale(int input) const { return 6 + input; }
  int zero_point(int input) const { return 11 + input; }

  static EmbedLayerNormalization read(const NodeView& node);
};

void infer(const EmbedLayerNormalization& op, InferenceContext& context);

}  // namespace rh::ops
