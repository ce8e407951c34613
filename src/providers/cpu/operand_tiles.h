#pragma once

#include <optional>

#include "compute/move/elements.h"
#include "providers/cpu/broadcast.h"
#include "tensor/tensor.h"

namespace rh::cpu {

/// Where the elements of a value lie that belong to a tile: they go on one by one (step 1), or one serves all (step 0).
struct Place {
  const char* data;
  int64_t step;
};

/// An operand as tiles of an output of `output`'s shape see it: where it lies, or spread out into memory of the tile's.
class OperandTiles {
 public:
  static constexpr int64_t kShortRow = 256;  ///< elements; operands that broadcast along shorter rows are spread out

  /// `operand` must be broadcastable to `output`, with elements of whole bytes, no strings.
  OperandTiles(const TensorView& operand, const Shape& output);

  /// Elements of a row along which it goes on or stays; 0 where it does one of the two all along.
  int64_t row_length() const { return rows_ ? rows_->row_length() : 0; }
  /// Bytes of it that an element of the output needs, where none is needed again soon.
  double bytes_per_element() const { return static_cast<double>(!rows_ && step_ == 1 ? bytes_ : 0); }
  /// Whether it has one element for each row, such as a factor for each channel.
  bool stays_in_rows() const { return rows_ && rows_->step(0) == 0; }
  /// Whether tiles that do not cross its rows are read where they lie.
  bool lies_in_rows() const { return !rows_ || row_length() >= kShortRow; }
  /// The elements of outputs [at, at + count); `room` takes them where they do not lie in one row.
  Place tile(int64_t at, int64_t count, char* room) const;

 private:
  const char* data_;
  int64_t bytes_, step_ = 1;
  std::optional<Broadcast> rows_;
  int64_t period_ = 0;  ///< of an operand whose elements repeat themselves row by row; 0: it is none
};

}  // namespace rh::cpu
