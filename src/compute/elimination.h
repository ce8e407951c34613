#pragma once

#include <algorithm>
#include <cstdint>

namespace rh::compute {

/// A square matrix that Gauss and Jordan's elimination with partial pivoting takes apart, a block of columns at a time.
struct Elimination {
  static constexpr int64_t kBlock = 8;

  int64_t size = 0;
  double* matrix = nullptr;   ///< rows of stride(size), which end in zeros
  double* work = nullptr;     ///< work_elements(size)
  int64_t* pivots = nullptr;  ///< of `size`: the row with which each row was exchanged

  static int64_t stride(int64_t size) { return (size + kBlock - 1) / kBlock * kBlock; }
  static int64_t work_elements(int64_t size) { return kBlock * (size + stride(size)); }

  /// Puts the rows of a contiguous matrix there.
  template <typename T>
  void read(const T* from) {
    double* to = matrix;
    for (int64_t row = 0; row < size; ++row, from += size, to += stride(size)) {
      for (int64_t k = 0; k < size; ++k) to[k] = static_cast<double>(from[k]);
      std::fill(to + size, to + stride(size), 0.0);
    }
  }

  /// Serial; the matrix is lost.
  double determinant();

  /// The matrix becomes its inverse but for the order of columns: the inverse's column k is order[k]. False where a pivot is 0.
  bool invert(int64_t* order);

 private:
  bool eliminate_block(int64_t first, bool inverts, double& product);
};

}  // namespace rh::compute
