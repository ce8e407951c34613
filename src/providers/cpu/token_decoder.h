#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/control_flow/generation.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Runs the decoder graph of an operator that generates tokens, step by step, for `beams` rows of each item of the batch, and keeps what it
/// remembers of the tokens before. Throws Error{invalid_argument} where a graph gives what the next step cannot take.
class TokenDecoder {
 public:
  TokenDecoder(const ops::Generation& op, RunContext& context, int64_t batch, int64_t beams, int64_t max_length);

  /// The first step. GPT: on `prompt` [batch, length], which input 0 of the node has as well. The others: on the prompt or features of
  /// input 0, after the encoder, and `prompt` are the decoder's first tokens. `mask`: [batch, length of input 0]; null: pads are hidden.
  Status start(const Tensor& prompt, const Tensor* mask);
  /// A further step. Row i goes on from what row from[i] of the same item was, with its new token; `sequences` are all tokens of the rows
  /// so far.
  Status advance(std::span<const int32_t> tokens, std::span<const int64_t> from, std::span<const std::vector<int32_t>> sequences);

  /// Scores of all tokens after what row i has seen.
  const float* logits(int64_t row) const;
  int64_t width() const { return logits_.shape()[2]; }  ///< tokens in logits()

 private:
  Status start_gpt(const Tensor& prompt, const Tensor* mask);
  Status start_encoder(const Tensor& prompt, const Tensor* mask);
  Status run(int graph, std::vector<Value> inputs);
  void add_buffer_inputs(std::vector<Value>& inputs, int64_t filled);
  void take_logits(const Value& logits, int64_t rows);
  void take_states(std::span<Value> states, int64_t filled);
  /// Uninitialised, in memory that counts against the session's budget until the run ends.
  Tensor scratch_tensor(DType dtype, const Shape& shape) const;
  Tensor empty_state(const TensorType& type, int64_t rows) const;
  /// A present value [rows, heads, length, size] with room for max_length tokens.
  Tensor with_room(const Tensor& state) const;
  Tensor picked(const Value& state, int batch_axis, std::span<const int64_t> rows) const;
  std::vector<int64_t> all_beams() const;
  int batch_axis() const { return op_.model == ops::Generation::Model::gpt ? 1 : 0; }

  const ops::Generation& op_;
  RunContext& context_;
  int64_t batch_, beams_, rows_, max_length_;
  std::vector<Value> states_, cross_;
  Value hidden_, indirection_;
  std::vector<int32_t> positions_;  ///< of the next tokens, one a row
  Tensor source_;                   ///< T5 whose decoder takes the encoder's tokens: [rows, length of input 0]
  Tensor mask_;                     ///< GPT: [rows, tokens so far]; T5: [rows, length of input 0]
  Tensor logits_;                   ///< float32 [rows or batch, length, tokens]
  int64_t filled_ = 0;              ///< tokens that the states hold
};

}  // namespace rh::cpu
