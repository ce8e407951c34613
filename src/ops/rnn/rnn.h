#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// LSTM: ai.onnx 1, 7, 14, 22. GRU: 1, 3, 7, 14, 22. RNN: 1, 7, 14, 22.
/// Inputs X [seq, batch, input] (layout 1: [batch, seq, input]), W, R, B, sequence_lens, initial_h, and for LSTM initial_c and P.
struct Rnn {
  enum class Cell : uint8_t { rnn, gru, lstm } cell = Cell::rnn;
  enum class Direction : uint8_t { forward, reverse, bidirectional } direction = Direction::forward;
  int64_t hidden_size = 0;                               ///< 0: from R
  std::vector<std::string> activations;                  ///< lower case, one a gate function and direction, defaults filled in
  std::vector<float> activation_alpha, activation_beta;  ///< one an activation, defaults filled in
  float clip = 0;                                        ///< 0: none
  bool linear_before_reset = false;
  bool input_forget = false;
  bool batch_first = false;

  int gates() const { return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1; }
  int directions() const { return direction == Direction::bidirectional ? 2 : 1; }
  /// Activation functions one direction needs: 1, 2 or 3.
  int functions() const { return cell == Cell::lstm ? 3 : cell == Cell::gru ? 2 : 1; }
  static Rnn read(const NodeView& node);
};

void infer(const Rnn& op, InferenceContext& context);

}  // namespace rh::ops
