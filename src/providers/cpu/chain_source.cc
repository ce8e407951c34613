#include "providers/cpu/chain_source.h"

#include <algorithm>

#include "compute/copy.h"
#include "compute/vector_math.h"

namespace rh::cpu {

namespace {

/// Elements [at, at + count) of [-second half, first half] of rows of `length`.
void rotate_halves(UnaryRow negate, const TensorView& x, int64_t length, int64_t at, int64_t count, char* y) {
  const int64_t half = length / 2, bytes = bits_of(x.dtype()) / 8;
  const char* from = static_cast<const char*>(x.raw());
  if (x.dtype() == DType::float32 && at % length == 0 && count % length == 0) {
    return compute::rotate_halves(reinterpret_cast<const float*>(from) + at, reinterpret_cast<float*>(y), count / length, half);
  }
  for (const int64_t end = at + count; at < end;) {
    const int64_t column = at % length;
    const bool is_first = column < half;
    const int64_t size = std::min(end - at, (is_first ? half : length) - column);
    if (is_first) {
      run_unary_row(negate, x.dtype(), from + (at + half) * bytes, y, size, nullptr);
    } else {
      compute::copy_bytes(from + (at - half) * bytes, y, static_cast<size_t>(size * bytes));
    }
    y += size * bytes;
    at += size;
  }
}

/// Whether the input's elements are those of dimensions in a row, as the output has them, which repeat themselves.
bool has_number_each_row(const Shape& input, const Shape& output) {
  int axis = input.rank() - 1, of_output = output.rank() - 1;
  for (; axis >= 0 && input[axis] == 1; --axis) --of_output;
  for (; axis >= 0 && input[axis] == output[of_output]; --axis) --of_output;
  return input.product(0, axis + 1) == 1;
}

}  // namespace

ChainSource::ChainSource(const TensorView& input, const Shape& output)
    : data_(static_cast<const char*>(input.raw())), bytes_(bits_of(input.dtype()) / 8) {
  const int64_t elements = input.elements();
  if (elements == 1 || elements == output.elements()) {
    step_ = elements == 1 ? 0 : 1;
    return;
  }
  const Shape* const shapes[] = {&input.shape()};
  rows_.emplace(output, shapes);
  if (rows_->step(0) == 1 && rows_->row_length() == elements) period_ = elements;
  if (rows_->step(0) == 0 && has_number_each_row(input.shape(), output)) numbers_ = elements;
  kind_ = compute::element_kind(input.dtype());
}

void ChainSource::rotate(const TensorView& input, int64_t length) {
  rotated_ = input;
  rotated_length_ = length;
  negate_ = row_of(ops::Unary::Function::neg, input.dtype());
}

bool ChainSource::lies_in_rows() const {
  return rotated_length_ == 0 && (!rows_ || period_ >= kShortRow || (numbers_ > 0 && row_length() >= kShortRow));
}

Place ChainSource::tile(int64_t at, int64_t count, char* room) const {
  if (rotated_length_ > 0) {
    rotate_halves(negate_, rotated_, rotated_length_, at, count, room);
    return {room, 1};
  }
  if (!rows_) return {data_ + at * step_ * bytes_, step_};
  if (numbers_ > 0) return numbers(at, count, room);
  Place place{room, 1};
  if (period_ >= kShortRow) return {data_ + at % period_ * bytes_, 1};
  if (period_ > 0) {
    repeat_pattern(data_, period_, at % period_, bytes_, room, count);
    return place;
  }
  rows_->run_range({at, at + count}, [&](int64_t output, const int64_t* inputs, int64_t length) {
    const char* from = data_ + inputs[0] * bytes_;
    if (length == count) {
      place = {from, rows_->step(0)};
    } else if (rows_->step(0) == 0) {
      compute::fill_elements(kind_, from, room + (output - at) * bytes_, length);
    } else {
      compute::copy_elements(kind_, from, room + (output - at) * bytes_, length);
    }
  });
  return place;
}

Place ChainSource::numbers(int64_t at, int64_t count, char* room) const {
  const int64_t length = rows_->row_length();
  int64_t row = at / length % numbers_, left = length - at % length;
  if (count <= left) return {data_ + row * bytes_, 0};
  for (char* to = room; count > 0; left = length) {
    const bool whole = left == length && count >= length && kind_ == compute::ElementKind::bytes4;
    const int64_t rows = whole ? std::min(count / length, numbers_ - row) : 1, filled = whole ? rows * length : std::min(left, count);
    if (whole) {
      compute::fill_rows(reinterpret_cast<const float*>(data_) + row, reinterpret_cast<float*>(to), rows, length);
    } else {
      compute::fill_elements(kind_, data_ + row * bytes_, to, filled);
    }
    row = (row + rows) % numbers_;
    to += filled * bytes_;
    count -= filled;
  }
  return {room, 1};
}

}  // namespace rh::cpu
