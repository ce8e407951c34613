#pragma once

#include <optional>

#include "compute/elements.h"
#include "providers/cpu/broadcast.h"
#include "providers/cpu/element_rows.h"

namespace rh::cpu {

/// Elements. Inputs that broadcast along shorter rows are spread out over a tile.
inline constexpr int64_t kShortRow = 256;

/// Where the elements of a value lie that belong to a tile: they go on one by one (step 1), or one serves all (step 0).
struct Place {
  const char* data;
  int64_t step;
};

/// An input of a chain of element-wise operators as the tiles of its output see it. The input lives as long.
class ChainSource {
 public:
  /// Of an output that has elements.
  ChainSource(const TensorView& input, const Shape& output);

  /// Elements of a row along which it goes on or stays; 0 where it does one of the two all along.
  int64_t row_length() const { return rows_ ? rows_->row_length() : 0; }
  /// Whether it has one element for each row, such as a factor for each channel.
  bool stays_in_rows() const { return numbers_ > 0; }
  double bytes_per_element() const { return static_cast<double>(!rows_ && step_ == 1 ? bytes_ : 0); }

  /// Rows of so many elements are to be read with their halves exchanged; the input has the output's shape.
  void rotate(const TensorView& input, int64_t length);

  /// Whether tiles of any size are read where they lie.
  bool lies_in_rows() const;
  /// The elements of outputs [at, at + count); `room` takes them where they do not lie in one row.
  Place tile(int64_t at, int64_t count, char* room) const;

 private:
  /// The element of the row in which the tile lies, or those of its rows, spread out.
  Place numbers(int64_t at, int64_t count, char* room) const;

  const char* data_;
  int64_t bytes_, step_ = 1;
  std::optional<Broadcast> rows_;
  compute::ElementKind kind_ = compute::ElementKind::bytes1;
  int64_t period_ = 0;   ///< of an input whose elements repeat themselves row by row; 0: it is none
  int64_t numbers_ = 0;  ///< elements of an input that stays in each row and repeats itself after so many; 0: it is none
  TensorView rotated_;
  int64_t rotated_length_ = 0;  ///< 0: it is read as it is
  UnaryRow negate_ = nullptr;
};

}  // namespace rh::cpu
