#pragma once

#include <span>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "tensor/shape.h"

namespace rh::cpu {

/// How inputs meet under numpy broadcasting, as rows: along a row each input either goes on element by element (step 1) or stays (step 0).
/// Dimensions that go together are merged first, so equal shapes are one row, and a bias is one row per outer index.
class Broadcast {
 public:
  static constexpr int kMaxInputs = 3;

  /// `inputs` must be broadcastable to `output`.
  Broadcast(const Shape& output, std::span<const Shape* const> inputs);

  int64_t elements() const { return rows_ * row_length_; }
  int64_t step(int input) const { return steps_[input]; }
  int64_t row_length() const { return row_length_; }

  /// Called with offsets in elements, of the output and of each input, and how many elements of a row follow.
  using Row = FunctionRef<void(int64_t output, const int64_t* inputs, int64_t count)>;
  void run(const Parallel& parallel, const Cost& cost_per_element, Row row) const;
  /// The same for outputs [range.begin, range.end), in the calling thread.
  void run_range(Range range, Row row) const;

  /// The same, but rows that follow each other at even distances come together: offsets of the first one, how many rows, and how many
  /// elements of each. Inputs go on by row_stride() from one to the next.
  using Rows = FunctionRef<void(int64_t output, const int64_t* inputs, int64_t rows, int64_t count)>;
  void run_rows(Range range, Rows rows) const;
  int64_t row_stride(int input) const { return outer_.empty() ? 0 : strides_[input][0]; }

 private:
  /// Where a range stands.
  struct Position {
    Shape outer;
    int64_t offsets[kMaxInputs] = {};
  };
  Position position_of(int64_t row) const;
  /// Goes on by rows that do not pass the end of the innermost outer dimension.
  void advance(Position& position, int64_t rows) const;

  int inputs_;
  int64_t row_length_ = 1, rows_ = 1;
  int64_t steps_[kMaxInputs] = {};
  Shape outer_;                ///< merged dimensions that are outside the row
  Shape strides_[kMaxInputs];  ///< of each input along them
};

}  // namespace rh::cpu
