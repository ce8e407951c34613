#include "providers/cpu/generation_request.h"

#include <algorithm>

#include "providers/cpu/elements.h"

namespace rh::cpu {

using Model = ops::Generation::Model;

GenerationRequest::GenerationRequest(const ops::Generation& op, const RunContext& context, const Inputs& inputs)
    : op_(op), inputs_(inputs) {
  const Shape& shape = context.input(0).shape();
  const int rank = op.model == Model::whisper ? 3 : 2;
  if (shape.rank() != rank) {
    fail(ErrorCode::invalid_argument, "input 0 has shape {}, expected {} dimensions for model_type {}", shape.to_string(), rank,
         static_cast<int>(op.model));
  }
  if (op.model != Model::whisper && context.input(0).dtype() != DType::int32) {
    fail(ErrorCode::invalid_argument, "input 0 is of {}, expected int32 tokens", to_string(context.input(0).dtype()));
  }
  batch = shape[0];
  max_length = scalar_int(context, inputs.max_length, "max_length");
  take_prompt(context, inputs);
  if (batch < 1 || length() < 1)
    fail(ErrorCode::invalid_argument, "tokens have shape {}, expected at least 1 each", prompt.shape().to_string());
  if (max_length <= length()) {
    fail(ErrorCode::invalid_argument, "max_length is {}, expected more than the {} tokens that there are at the start", max_length,
         length());
  }
  const int attention_mask = inputs.vocabulary_mask + 2;
  if (op.model != Model::whisper && context.has_input(attention_mask)) {
    mask = &context.input_tensor(attention_mask);
    mask_input(context, attention_mask, shape, "attention_mask");
  }
}

void GenerationRequest::take_prompt(const RunContext& context, const Inputs& inputs) {
  if (op_.model == Model::gpt) {
    prompt = context.input_tensor(0);
  } else if (op_.model == Model::whisper && inputs.decoder_tokens >= 0 && context.has_input(inputs.decoder_tokens)) {
    prompt = context.input_tensor(inputs.decoder_tokens);
    if (prompt.shape().rank() != 2 || prompt.shape()[0] != batch) {
      fail(ErrorCode::invalid_argument, "decoder_input_ids has shape {}, expected [{}, tokens]", prompt.shape().to_string(), batch);
    }
  } else {
    if (op_.start < 0) fail(ErrorCode::invalid_argument, "neither decoder_input_ids nor decoder_start_token_id is given");
    const std::vector<int32_t> tokens(static_cast<size_t>(batch), static_cast<int32_t>(op_.start));
    prompt = Tensor::from<int32_t>({batch, 1}, tokens);
  }
}

std::vector<std::vector<int32_t>> GenerationRequest::sequences(int64_t rows) const {
  std::vector<std::vector<int32_t>> all;
  for (int64_t i = 0; i < batch; ++i) {
    const int32_t* first = prompt.data<int32_t>() + i * length();
    for (int64_t row = 0; row < rows; ++row) all.emplace_back(first, first + length());
  }
  return all;
}

int64_t GenerationRequest::vocabulary(int64_t width) const {
  if (op_.vocabulary > width) {
    fail(ErrorCode::invalid_argument, "vocab_size is {}, but the decoder gives scores of {} tokens", op_.vocabulary, width);
  }
  return op_.vocabulary > 0 ? op_.vocabulary : width;
}

ScoreRules GenerationRequest::rules(const RunContext& context, int64_t vocabulary) const {
  ScoreRules rules{.no_repeat_ngram = op_.no_repeat_ngram, .eos = op_.eos};
  rules.repetition_penalty = float_input(context, inputs_.repetition_penalty, 1, "repetition_penalty");
  if (!(rules.repetition_penalty > 0)) {
    fail(ErrorCode::invalid_argument, "repetition_penalty is {}, expected a number above 0", rules.repetition_penalty);
  }
  rules.vocabulary_mask = mask_input(context, inputs_.vocabulary_mask, {vocabulary}, "vocab_mask");
  rules.prefix_mask = mask_input(context, inputs_.vocabulary_mask + 1, {batch, vocabulary}, "prefix_vocab_mask");
  if (context.has_input(inputs_.min_length)) rules.min_length = scalar_int(context, inputs_.min_length, "min_length");
  return rules;
}

void GenerationRequest::write(const std::vector<int32_t>& sequence, int32_t* to) const {
  std::fill(std::copy(sequence.begin(), sequence.end(), to), to + max_length, static_cast<int32_t>(op_.pad));
}

float float_input(const RunContext& context, int input, float otherwise, const char* what) {
  if (!context.has_input(input)) return otherwise;
  const TensorView view = context.input(input);
  if (view.elements() != 1) fail(ErrorCode::invalid_argument, "{} has shape {}, expected 1 element", what, view.shape().to_string());
  return element_as_float(view, 0);
}

std::span<const int32_t> mask_input(const RunContext& context, int input, const Shape& shape, const char* what) {
  if (!context.has_input(input)) return {};
  const TensorView view = context.input(input);
  if (!(view.shape() == shape)) {
    fail(ErrorCode::invalid_argument, "{} has shape {}, expected {}", what, view.shape().to_string(), shape.to_string());
  }
  return view.span<int32_t>();
}

}  // namespace rh::cpu
