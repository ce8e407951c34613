#include "providers/cpu/token_decoder.h"

#include <algorithm>
#include <cstring>

#include "base/cancellation.h"
#include "compute/move/copy.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

using Model = ops::Generation::Model;

// Subgraphs in the order of their names: decoder, encoder, init_decoder.
constexpr int kDecoder = 0, kEncoder = 1;

template <typename T>
Tensor column(std::span<const T> values) {
  return Tensor::from<T>({static_cast<int64_t>(values.size()), 1}, values);
}

// 1 for tokens that count. Of the encoder's tokens only the pads before all others are hidden.
Tensor default_mask(const Tensor& prompt, int64_t pad, bool leading_only) {
  Tensor mask(DType::int32, prompt.shape());
  const int64_t length = prompt.shape()[1];
  for (int64_t row = 0; row < prompt.shape()[0]; ++row) {
    bool begun = false;
    for (int64_t i = row * length; i < (row + 1) * length; ++i) {
      const bool is_pad = prompt.data<int32_t>()[i] == pad && !(leading_only && begun);
      begun = begun || !is_pad;
      mask.data<int32_t>()[i] = is_pad ? 0 : 1;
    }
  }
  return mask;
}

}  // namespace

TokenDecoder::TokenDecoder(const ops::Generation& op, RunContext& context, int64_t batch, int64_t beams, int64_t max_length)
    : op_(op),
      context_(context),
      batch_(batch),
      beams_(beams),
      rows_(checked_product(batch, beams, "the rows of all beams")),
      max_length_(max_length) {}

Status TokenDecoder::start(const Tensor& prompt, const Tensor* mask) {
  return op_.model == Model::gpt ? start_gpt(prompt, mask) : start_encoder(prompt, mask);
}

// Beams are equal here, so that the graph runs on the batch and its results serve all of them.
Status TokenDecoder::start_gpt(const Tensor& prompt, const Tensor* mask) {
  const int64_t length = prompt.shape()[1];
  Tensor positions(DType::int32, prompt.shape());
  positions_.assign(static_cast<size_t>(rows_), 0);
  for (int64_t row = 0; row < batch_; ++row) {
    int32_t position = 0;
    for (int64_t i = row * length; i < (row + 1) * length; ++i) {
      positions.data<int32_t>()[i] = prompt.data<int32_t>()[i] == op_.pad ? 0 : position++;
    }
    std::fill_n(positions_.begin() + row * beams_, beams_, position);
  }
  const Tensor masks = mask ? mask->clone() : default_mask(prompt, op_.pad, false);
  std::vector<Value> inputs{prompt, positions, masks};
  for (const TensorType& type : op_.pasts) inputs.emplace_back(empty_state(type, batch_));
  add_buffer_inputs(inputs, 0);
  const std::vector<int64_t> beams = all_beams();
  mask_ = picked(masks, 0, beams);
  RH_RETURN_IF_ERROR(run(op_.has_first_decoder ? (op_.has_encoder ? 2 : 1) : kDecoder, std::move(inputs)));
  for (Value& state : states_) state = picked(state, batch_axis(), beams);
  filled_ = length;
  return {};
}

Status TokenDecoder::start_encoder(const Tensor& prompt, const Tensor* mask) {
  const Tensor& source = context_.input_tensor(0);
  std::vector<Value> inputs{source};
  if (op_.model == Model::t5) {
    const Tensor masks = mask ? mask->clone() : default_mask(source, op_.pad, true);
    mask_ = picked(masks, 0, all_beams());
    if (op_.decoder.takes_source) source_ = picked(source, 0, all_beams());
    inputs.emplace_back(masks);
  }
  if (op_.encoder_starts) inputs.emplace_back(prompt);
  SubgraphRunner& encoder = context_.subgraph(kEncoder);
  std::vector<Value> outputs(static_cast<size_t>(encoder.output_count()));
  RH_RETURN_IF_ERROR(encoder.run(inputs, outputs));
  const std::vector<int64_t> beams = all_beams();
  const auto expanded = [&](Value& value) { return Value(picked(value, 0, beams)); };
  const size_t cross = static_cast<size_t>(op_.decoder.cross);
  for (size_t i = outputs.size() - cross; i < outputs.size(); ++i) cross_.push_back(expanded(outputs[i]));
  if (op_.encoder_starts) {
    take_logits(outputs[0], batch_);
    if (op_.decoder.takes_hidden) hidden_ = expanded(outputs[1]);
    take_states(std::span(outputs).subspan(2, outputs.size() - 2 - cross), prompt.shape()[1]);
    for (Value& state : states_) {
      state = expanded(state);
      if (op_.decoder.shares_buffer) state = with_room(state.tensor());
    }
    return {};
  }
  for (const TensorType& type : op_.pasts) states_.emplace_back(empty_state(type, rows_));
  std::vector<int32_t> tokens(static_cast<size_t>(rows_));
  std::vector<int64_t> from(static_cast<size_t>(rows_));
  std::vector<std::vector<int32_t>> sequences(static_cast<size_t>(rows_));
  for (int64_t i = 0; i < rows_; ++i) {
    const size_t row = static_cast<size_t>(i);
    from[row] = i;
    tokens[row] = prompt.data<int32_t>()[i / beams_ * prompt.shape()[1]];
    sequences[row].assign(1, tokens[row]);
  }
  return advance(tokens, from, sequences);
}

Status TokenDecoder::advance(std::span<const int32_t> tokens, std::span<const int64_t> from,
                             std::span<const std::vector<int32_t>> sequences) {
  throw_if_cancelled();
  bool stays = true;
  for (int64_t i = 0; i < rows_; ++i) stays = stays && from[static_cast<size_t>(i)] == i;
  std::vector<Value> inputs;
  if (op_.decoder.takes_sequences) {
    const int64_t length = static_cast<int64_t>(sequences[0].size());
    Tensor all(DType::int32, {rows_, length});
    for (int64_t i = 0; i < rows_; ++i) std::copy_n(sequences[static_cast<size_t>(i)].begin(), length, all.data<int32_t>() + i * length);
    inputs.emplace_back(std::move(all));
  } else {
    inputs.emplace_back(column(tokens));
  }
  const int64_t added = inputs[0].tensor().shape()[1];
  if (op_.model == Model::gpt) {
    inputs.emplace_back(column(std::span<const int32_t>(positions_)));
    for (int32_t& position : positions_) ++position;
    const int64_t length = mask_.shape()[1];
    Tensor longer(DType::int32, {rows_, length + 1});
    for (int64_t i = 0; i < rows_; ++i) {
      std::copy_n(mask_.data<int32_t>() + i * length, length, longer.data<int32_t>() + i * (length + 1));
      longer.data<int32_t>()[i * (length + 1) + length] = 1;
    }
    mask_ = std::move(longer);
    inputs.emplace_back(mask_);
  } else if (op_.model == Model::t5) {
    if (op_.decoder.takes_source) inputs.emplace_back(source_);
    inputs.emplace_back(mask_);
  }
  if (op_.decoder.takes_hidden) inputs.push_back(hidden_);
  for (Value& state : states_) inputs.push_back(stays ? std::move(state) : Value(picked(state, batch_axis(), from)));
  inputs.insert(inputs.end(), cross_.begin(), cross_.end());
  add_buffer_inputs(inputs, filled_);
  RH_RETURN_IF_ERROR(run(kDecoder, std::move(inputs)));
  filled_ += added;
  return {};
}

Status TokenDecoder::run(int graph, std::vector<Value> inputs) {
  SubgraphRunner& runner = context_.subgraph(graph);
  const int64_t rows = inputs[0].tensor().shape()[0];
  std::vector<Value> outputs(static_cast<size_t>(runner.output_count()));
  RH_RETURN_IF_ERROR(runner.run(inputs, outputs));
  take_logits(outputs[0], rows);
  take_states(std::span(outputs).subspan(1), -1);
  return {};
}

// Rows of the beams stand where they belong, so each cached token is of the beam itself.
void TokenDecoder::add_buffer_inputs(std::vector<Value>& inputs, int64_t filled) {
  if (!op_.decoder.shares_buffer) return;
  inputs.emplace_back(Tensor::from<int32_t>({1}, std::vector<int32_t>{static_cast<int32_t>(filled)}));
  if (!op_.decoder.takes_indirection) return;
  inputs.emplace_back(Tensor::from<int32_t>({1}, std::vector<int32_t>{static_cast<int32_t>(beams_)}));
  if (indirection_.empty()) {
    Tensor own = scratch_tensor(DType::int32, {batch_, beams_, max_length_});
    for (int64_t i = 0; i < rows_; ++i) std::fill_n(own.data<int32_t>() + i * max_length_, max_length_, static_cast<int32_t>(i % beams_));
    indirection_ = std::move(own);
  }
  inputs.push_back(indirection_);
}

void TokenDecoder::take_logits(const Value& logits, int64_t rows) {
  const bool is_tensor = logits.is_tensor();
  const Shape shape = is_tensor ? logits.tensor().shape() : Shape{};
  const DType dtype = is_tensor ? logits.tensor().dtype() : DType::undefined;
  if (shape.rank() != 3 || shape[0] != rows || shape[1] < 1 || shape[2] < 1 ||
      (dtype != DType::float32 && dtype != DType::float16 && dtype != DType::bfloat16)) {
    fail(ErrorCode::invalid_argument, "a graph gives logits {}{}, expected floats [{}, length, tokens]", to_string(dtype),
         shape.to_string(), rows);
  }
  if (dtype == DType::float32) {
    logits_ = logits.tensor();
  } else {
    logits_ = Tensor(DType::float32, shape);
    convert(context_.parallel(), logits.tensor().view(), logits_.mutable_view());
  }
}

void TokenDecoder::take_states(std::span<Value> states, int64_t filled) {
  states_.assign(std::make_move_iterator(states.begin()), std::make_move_iterator(states.end()));
  if (filled >= 0) filled_ = filled;
}

Tensor TokenDecoder::scratch_tensor(DType dtype, const Shape& shape) const {
  check_elements(shape, "the past values of all beams");
  return {dtype, shape, context_.scratch(bytes_of(dtype, shape.elements())), nullptr};
}

Tensor TokenDecoder::empty_state(const TensorType& type, int64_t rows) const {
  Shape shape;
  const int rank = type.rank();
  for (int k = 0; k < rank; ++k) {
    const Dim& dim = (*type.dims)[static_cast<size_t>(k)];
    shape.push_back(k == batch_axis()   ? rows
                    : k == rank - 2     ? (op_.decoder.shares_buffer ? max_length_ : 0)
                    : dim.is_constant() ? dim.value()
                                        : 2);
  }
  Tensor state = scratch_tensor(type.dtype, shape);
  if (state.bytes() > 0) std::memset(state.raw(), 0, state.bytes());
  return state;
}

Tensor TokenDecoder::with_room(const Tensor& state) const {
  Shape shape = state.shape();
  if (shape.rank() != 4 || shape[2] > max_length_) {
    fail(ErrorCode::invalid_argument, "a graph gives a present value of shape {}, expected [{}, heads, at most {}, size]",
         shape.to_string(), rows_, max_length_);
  }
  const size_t held = static_cast<size_t>(shape[2]);
  shape[2] = max_length_;
  Tensor to = scratch_tensor(state.dtype(), shape);
  if (to.bytes() == 0) return to;
  std::memset(to.raw(), 0, to.bytes());
  const size_t heads = static_cast<size_t>(shape[0] * shape[1]), row = to.bytes() / heads,
               bytes = row / static_cast<size_t>(max_length_) * held;
  for (size_t i = 0; bytes > 0 && i < heads; ++i) {
    compute::copy_bytes(static_cast<const char*>(state.raw()) + i * bytes, static_cast<char*>(to.raw()) + i * row, bytes);
  }
  return to;
}

Tensor TokenDecoder::picked(const Value& state, int batch_axis, std::span<const int64_t> rows) const {
  if (!state.is_tensor() || state.tensor().shape().rank() <= batch_axis || bits_of(state.tensor().dtype()) < 8) {
    fail(ErrorCode::invalid_argument, "a graph gives a present value that is no tensor of numbers with a dimension for the batch");
  }
  const Tensor& from = state.tensor();
  const int64_t count = from.shape()[batch_axis];
  for (int64_t row : rows) {
    if (row < 0 || row >= count) {
      fail(ErrorCode::invalid_argument, "a graph gives a value of shape {}, expected {} rows in dimension {}", from.shape().to_string(),
           op_.model == Model::gpt || count > batch_ ? rows_ : batch_, batch_axis);
    }
  }
  Shape shape = from.shape();
  shape[batch_axis] = static_cast<int64_t>(rows.size());
  check_elements(shape, "the past values of all beams");
  Tensor to(from.dtype(), shape);
  if (to.bytes() == 0 || from.bytes() == 0) return to;
  int64_t outer = 1;
  for (int k = 0; k < batch_axis; ++k) outer *= shape[k];
  const size_t bytes = from.bytes() / static_cast<size_t>(outer * count);
  const int64_t chosen = static_cast<int64_t>(rows.size());
  const double work = static_cast<double>(bytes) / 16;
  context_.parallel().for_range(outer * chosen, {work, work}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t row = i / chosen * count + rows[static_cast<size_t>(i % chosen)];
      compute::copy_bytes(static_cast<const char*>(from.raw()) + static_cast<size_t>(row) * bytes,
                          static_cast<char*>(to.raw()) + static_cast<size_t>(i) * bytes, bytes);
    }
  });
  return to;
}

std::vector<int64_t> TokenDecoder::all_beams() const {
  std::vector<int64_t> rows(static_cast<size_t>(rows_));
  for (int64_t i = 0; i < rows_; ++i) rows[static_cast<size_t>(i)] = i / beams_;
  return rows;
}

const float* TokenDecoder::logits(int64_t row) const {
  const int64_t length = logits_.shape()[1], source = logits_.shape()[0] == rows_ ? row : row / beams_;
  return logits_.data<float>() + (source * length + length - 1) * width();
}

}  // namespace rh::cpu
