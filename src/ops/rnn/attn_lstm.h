#pragma once

#include "ops/rnn/rnn.h"

namespace rh::ops {

/// AttnLSTM: com.microsoft 1. An LSTM that takes, beside X, an attention state: the context that Bahdanau attention draws from a memory
/// with the last hidden state as query, or AW's product with both. Inputs: those of LSTM (0 to 7; W's columns are those of X and of the
/// attention state), QW [directions, hidden, size], MW [directions, depth, size], V [directions, size], M [batch, steps, depth],
/// memory_seq_lens, AW [directions, hidden + depth, columns].
struct AttnLSTM {
  Rnn layer;

  static AttnLSTM read(const NodeView& node);
};

void infer(const AttnLSTM& op, InferenceContext& context);

}  // namespace rh::ops
