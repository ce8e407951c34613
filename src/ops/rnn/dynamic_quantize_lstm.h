#pragma once

#include "ops/rnn/rnn.h"

namespace rh::ops {

/// DynamicQuantizeLSTM: com.microsoft 1. An LSTM whose X and hidden states are quantised as DynamicQuantizeLinear does. Inputs X, W
/// [directions, input, 4 * hidden] and R [directions, hidden, 4 * hidden] of 8 bits, those of LSTM (3 to 7), scale and zero point of W and
/// of R: [directions] or [directions, 4 * hidden].
struct DynamicQuantizeLSTM {
  Rnn layer;

  static DynamicQuantizeLSTM read(const NodeView& node);
};

void infer(const DynamicQuantizeLSTM& op, InferenceContext& context);

}  // namespace rh::ops
