#pragma once

#include <cstdint>
#include <vector>

#include "ops/control_flow/generation.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/token_scores.h"

namespace rh::cpu {

/// What the inputs of an operator that generates tokens ask for, held against each other. Throws Error{invalid_argument}.
class GenerationRequest {
 public:
  /// Numbers of inputs. After the vocabulary's mask come the mask of the first step and the attention mask.
  struct Inputs {
    int max_length, min_length, repetition_penalty, vocabulary_mask, decoder_tokens = -1;
  };

  GenerationRequest(const ops::Generation& op, const RunContext& context, const Inputs& inputs);

  int64_t batch = 0, max_length = 0;
  Tensor prompt;                 ///< the decoder's first tokens, int32 [batch, length]
  const Tensor* mask = nullptr;  ///< of input 0; null: pads are hidden

  int64_t length() const { return prompt.shape()[1]; }
  /// The first tokens of `rows` sequences an item.
  std::vector<std::vector<int32_t>> sequences(int64_t rows) const;
  /// How many tokens count of those that the logits have.
  int64_t vocabulary(int64_t width) const;
  ScoreRules rules(const RunContext& context, int64_t vocabulary) const;
  /// The sequence, and pads up to max_length.
  void write(const std::vector<int32_t>& sequence, int32_t* to) const;

 private:
  void take_prompt(const RunContext& context, const Inputs& inputs);

  const ops::Generation& op_;
  Inputs inputs_;
};

/// The only element of a float input, or `otherwise` where it is left out. Throws Error{invalid_argument} naming `what`.
float float_input(const RunContext& context, int input, float otherwise, const char* what);
/// The elements of an int32 input that has this shape; none where it is left out.
std::span<const int32_t> mask_input(const RunContext& context, int input, const Shape& shape, const char* what);

}  // namespace rh::cpu
