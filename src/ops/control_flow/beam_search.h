#pragma once

#include "ops/control_flow/generation.h"

namespace rh::ops {

/// The tokens by which Whisper tells times.
struct Timestamps {
  int64_t first = 0;                                  ///< token that stands for time 0; all above are later times
  int64_t no_timestamps = 0, start_of_lm = 0;         ///< tokens that never come
  int64_t start = -1, transcribe = 0, translate = 0;  ///< tokens that do not come after text
};

/// BeamSearch and WhisperBeamSearch of com.microsoft: the best continuations of the tokens [batch, length] (whisper: features of sound
/// [batch, rows, length]) that the decoder graph gives scores. Outputs: sequences [batch, returned, max_length], their scores, and the
/// scores of all tokens at each step.
struct BeamSearch {
  Generation generation;
  bool early_stopping = false;
  bool is_whisper = false;  ///< WhisperBeamSearch, which has more inputs
  int64_t no_speech = -1;   ///< token whose probability at the first step is output 4; -1: there is no such output
  Timestamps timestamps;

  static BeamSearch read(const NodeView& node);
};

void infer(const BeamSearch& op, InferenceContext& context);

}  // namespace rh::ops
