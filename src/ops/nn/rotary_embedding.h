#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// RotaryEmbedding: ai.onnx 23. X [batch, heads, length, depth] or [batch, length, heads depth]; cosines and sines [positions, half] with
/// the position of each token, or [batch, length, half] without. That of com.microsoft has the positions second, and also takes the
/// position of the first token of all sequences. MRotaryEmbedding has positions [3, batch, length] in time, height and width, each for
/// some of the angles.
struct RotaryEmbedding {
  int64_t heads = 0;         ///< of X with three dimensions
  int64_t rotary_depth = 0;  ///< elements of each head that turn, the first ones; 0: all
  bool interleaved = false;  ///< pairs are neighbours, not halves
  bool is_contrib = false;
  std::vector<int64_t> sections;          ///< MRotaryEmbedding: angles that turn by time, height and width; else empty
  bool sections_are_interleaved = false;  ///< they take turns, and time has those that are left
  float scale = 1;                        ///< of what turns

  /// Which of the three positions of a token angle i of `half` ones turns by.
  int stream_of(int64_t i) const;
  int cosines() const { return is_contrib ? 2 : 1; }
  int sines() const { return cosines() + 1; }
  int positions() const { return is_contrib ? 1 : 3; }

  static RotaryEmbedding read(const NodeView& node);
};

void infer(const RotaryEmbedding& op, InferenceContext& context);

}  // namespace rh::ops
