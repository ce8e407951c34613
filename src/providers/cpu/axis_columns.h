#pragma once

#include <algorithm>

#include "base/cancellation.h"
#include "base/thread_pool.h"
#include "tensor/shape.h"

namespace rh::cpu {

/// An index for each of [outer, rows, inner] into the middle axis of data [outer, size, inner]: what lies behind the axis has the same
/// sizes in both. Taken by blocks of columns, so that those of the data stay in the cache, each in the order of the rows.
class AxisColumns {
 public:
  AxisColumns(const Shape& data, const Shape& indices, int axis)
      : outer_(indices.product(0, axis)), rows_(indices[axis]), inner_(indices.product(axis + 1, indices.rank())), size_(data[axis]) {
    fits_ = inner_ > 1;
    for (int k = 0; k < data.rank(); ++k) fits_ = fits_ && (k == axis || data[k] == indices[k]);
  }

  /// False where columns are none, or sizes off the axis differ.
  bool fits() const { return fits_; }
  int64_t inner() const { return inner_; }

  /// Calls body(base, first, width) for pieces of rows: `first` is the place of the piece's first index, `base` that of the first element
  /// of its column in the data.
  template <typename Body>
  void run(const Parallel& parallel, size_t element_bytes, Body&& body) const {
    run_blocks(parallel, element_bytes, kColumns, [&](int64_t base, int64_t first, int64_t width) {
      for_rows([&](int64_t row) { body(base, first + row * inner_, width); });
    });
  }

  /// The same for blocks of at most `columns` columns, whose rows for_rows() gives.
  template <typename Body>
  void run_blocks(const Parallel& parallel, size_t element_bytes, int64_t columns, Body&& body) const {
    const int64_t blocks = (inner_ + columns - 1) / columns;
    const double work = static_cast<double>(rows_ * std::min(inner_, columns));
    parallel.for_range(outer_ * blocks, {(8 + 2.0 * static_cast<double>(element_bytes)) * work, 2 * work}, [&](Range part) {
      for (int64_t block = part.begin; block < part.end; ++block) {
        const int64_t outer = block / blocks, column = block % blocks * columns, width = std::min(columns, inner_ - column);
        body(outer * size_ * inner_ + column, outer * rows_ * inner_ + column, width);
      }
    });
  }

  /// Calls body(row) for the rows of the indices, in order.
  template <typename Body>
  void for_rows(Body&& body) const {
    for (int64_t row = 0; row < rows_; ++row) {
      if (row % kRowsBetweenLooks == 0) throw_if_cancelled();
      body(row);
    }
  }

  /// Whether a block's columns are read about as often as a copy of them, and lie so far apart that they keep little of the cache.
  bool pays_to_pack(size_t element_bytes) const {
    const auto bytes = static_cast<int64_t>(element_bytes);
    return inner_ >= kLeastApart / bytes && size_ >= kLeastPacked && size_ <= rows_ && size_ <= kMostPacked / (kPackedColumns * bytes);
  }
  static constexpr int64_t kPackedColumns = 64;

 private:
  static constexpr int64_t kColumns = 256, kRowsBetweenLooks = 256;
  static constexpr int64_t kLeastApart = 2048, kMostPacked = 512 << 10;  // bytes
  static constexpr int64_t kLeastPacked = 64;                            // elements of a column

  int64_t outer_, rows_, inner_, size_;
  bool fits_;
};

}  // namespace rh::cpu
