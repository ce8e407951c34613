#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// RotaryEmbedding: ai.onnx 23. X [batch, heads, length, depth] or [batch, length, heads depth]; cosines and sines [positions, half] with
/// the position of each token, or [batch, length, half] without. That of com.microsoft has the positions second, and also takes the
/// position of the first token of all sequences.
struct RotaryEmbedding {
  int64_t heads = 0;         ///< of X with three dimensions
  int64_t rotary_depth = 0;  ///< elements of each head that turn, the first ones; 0: all
  bool interleaved = false;  ///< pairs are neighbours, not halves
  bool is_contrib = false;

  int cosines() const { return is_contrib ? 2 : 1; }
  int sines() const { return cosines() + 1; }
  int positions() const { return is_contrib ? 1 : 3; }

  static RotaryEmbedding read(const NodeView& node);
};

void infer(const RotaryEmbedding& op, InferenceContext& context);

}  // namespace rh::ops
