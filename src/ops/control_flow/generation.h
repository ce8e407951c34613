#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// What the operators of com.microsoft that generate tokens with a decoder graph share: its form and the special tokens.
struct Generation {
  enum class Model : uint8_t { gpt, t5, whisper };

  /// The decoder takes tokens, what `model` has besides (positions and mask, or the encoder's mask), `states` past values, `cross` values
  /// of the encoder; it gives logits and the present values in the order of the past ones.
  struct Decoder {
    int first_state = 0, states = 0, cross = 0;
    bool takes_source = false;       ///< the encoder's tokens are an input, before its mask
    bool takes_hidden = false;       ///< the encoder's hidden states are an input
    bool takes_sequences = false;    ///< tokens are all of the sequence, not the last one
    bool shares_buffer = false;      ///< past values have the final length; after them comes how much of it is filled
    bool takes_indirection = false;  ///< after that come the number of beams and which beam each cached token is of
  };

  Model model = Model::gpt;
  int64_t eos = 0, pad = 0, start = -1;
  int64_t no_repeat_ngram = 0;
  int64_t vocabulary = 0;  ///< tokens that count of those that the logits have; 0: all
  Decoder decoder;
  bool encoder_starts = false;  ///< the encoder runs the decoder's first step as well
  bool has_encoder = false;
  bool has_first_decoder = false;  ///< the first step has a decoder graph of its own, of the same form
  std::vector<TensorType> pasts;   ///< declared types of the decoder's past inputs

  static Generation read(const NodeView& node, Model otherwise);
};

/// Infers the graphs of the node and gives the sequences [batch, rows..., max_length].
void infer(const Generation& op, InferenceContext& context, std::span<const Dim> rows);

/// The only element of an integer input as a dimension; unknown where it is not known.
Dim size_input(const InferenceContext& context, int input);

}  // namespace rh::ops
