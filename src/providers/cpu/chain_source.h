#pragma once

#include "providers/cpu/element_rows.h"
#include "providers/cpu/operand_tiles.h"

namespace rh::cpu {

/// An input of a chain of element-wise operators as the tiles of its output see it: an operand, or one whose rows have their halves
/// or neighbours exchanged. The input lives as long.
class ChainSource {
 public:
  /// Of an output that has elements.
  ChainSource(const TensorView& input, const Shape& output) : tiles_(input, output) {}

  /// Rows of so many elements are to be read with their halves, or each two neighbours, exchanged; the input has the output's shape.
  void rotate(const TensorView& input, int64_t length, bool pairs);

  int64_t row_length() const { return tiles_.row_length(); }
  bool stays_in_rows() const { return tiles_.stays_in_rows(); }
  double bytes_per_element() const { return tiles_.bytes_per_element(); }
  /// Whether tiles that do not cross its rows are read where they lie.
  bool lies_in_rows() const { return rotated_length_ == 0 && tiles_.lies_in_rows(); }
  /// The elements of outputs [at, at + count); `room` takes them where they do not lie in one row.
  Place tile(int64_t at, int64_t count, char* room) const;

 private:
  OperandTiles tiles_;
  TensorView rotated_;
  int64_t rotated_length_ = 0;  ///< 0: it is read as it is
  bool pairs_ = false;
  UnaryRow negate_ = nullptr;
};

}  // namespace rh::cpu
