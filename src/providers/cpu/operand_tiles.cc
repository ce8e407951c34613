#include "providers/cpu/operand_tiles.h"

#include "compute/move/spread.h"
#include "providers/cpu/elementwise.h"

namespace rh::cpu {

OperandTiles::OperandTiles(const TensorView& operand, const Shape& output)
    : data_(static_cast<const char*>(operand.raw())), bytes_(bits_of(operand.dtype()) / 8) {
  const int64_t elements = operand.elements();
  if (elements == 1 || elements == output.elements()) {
    step_ = elements == 1 ? 0 : 1;
    return;
  }
  const Shape* const shapes[] = {&operand.shape()};
  rows_.emplace(output, shapes);
  if (rows_->step(0) == 1 && rows_->row_length() == elements) period_ = elements;
}

Place OperandTiles::tile(int64_t at, int64_t count, char* room) const {
  if (!rows_) return {data_ + at * step_ * bytes_, step_};
  if (period_ >= kShortRow && at % period_ + count <= period_) return {data_ + at % period_ * bytes_, 1};
  Place place{room, 1};
  if (period_ > 0) {
    repeat_pattern(data_, period_, at % period_, bytes_, room, count);
    return place;
  }
  rows_->run_rows({at, at + count}, [&](int64_t output, const int64_t* inputs, int64_t rows, int64_t length) {
    const char* from = data_ + inputs[0] * bytes_;
    if (length == count) {
      place = {from, rows_->step(0)};
    } else {
      compute::spread_rows(from, bytes_, rows_->row_stride(0), rows_->step(0), rows, length, room + (output - at) * bytes_);
    }
  });
  return place;
}

}  // namespace rh::cpu
