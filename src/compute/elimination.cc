#include "compute/elimination.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elimination.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::ScalableTag<double>;

constexpr int64_t kWidth = Elimination::kBlock;

/// Rows of kWidth lose row[column] / divisor times `line`, as if they had 0 in that column.
void subtract_line_loop(const double* line, double divisor, int64_t column, double* rows, int64_t count) {
  const Doubles d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const double own = line[column];
  for (double* row = rows; count > 0; --count, row += kWidth) {
    const double factor = divisor == 1 ? row[column] : row[column] / divisor;
    const auto factors = hn::Set(d, factor);
    for (int64_t i = 0; i < kWidth; i += lanes) {
      hn::StoreU(hn::Sub(hn::LoadU(d, row + i), hn::Mul(factors, hn::LoadU(d, line + i))), d, row + i);
    }
    row[column] = -factor * own;
  }
}

/// kRows rows and kVectors vectors of c += a b, where a has kWidth columns.
template <int kRows, int kVectors>
HWY_INLINE void add_tile(const double* a, const double* b, double* c, int64_t stride) {
  const Doubles d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<Doubles> sum[kRows][kVectors];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::LoadU(d, c + r * stride + v * lanes);
  }
  for (int64_t k = 0; k < kWidth; ++k) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const auto right = hn::LoadU(d, b + k * stride + v * lanes);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) sum[r][v] = hn::MulAdd(hn::Set(d, a[r * kWidth + k]), right, sum[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, c + r * stride + v * lanes);
  }
}

/// `columns` is a multiple of kWidth.
void add_products_loop(const double* a, const double* b, double* c, int64_t stride, int64_t rows, int64_t columns) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Doubles()));
  for (; rows > 0; rows -= 4, a += 4 * kWidth, c += 4 * stride) {
    int64_t i = 0;
    for (; rows >= 4 && i + 2 * lanes <= columns; i += 2 * lanes) add_tile<4, 2>(a, b + i, c + i, stride);
    for (; rows >= 4 && i < columns; i += lanes) add_tile<4, 1>(a, b + i, c + i, stride);
    for (int64_t r = 0; rows < 4 && r < rows; ++r) {
      for (i = 0; i < columns; i += lanes) add_tile<1, 1>(a + r * kWidth, b + i, c + r * stride + i, stride);
    }
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace rh::compute {

HWY_EXPORT(subtract_line_loop);
HWY_EXPORT(add_products_loop);

/// Steps that replace rows T of the identity: what they make of some columns is T times these, and of T only the block's columns differ
/// from the identity. They are made in a copy of those columns, where they take the place of what is eliminated.
bool Elimination::eliminate_block(int64_t first, bool inverts, double& product) {
  const int64_t stride = Elimination::stride(size), count = std::min(kBlock, size - first), end = first + count;
  const int64_t top = inverts ? 0 : first;  // rows above are done
  double *const steps = work, *const right = work + size * kBlock;
  for (int64_t row = top; row < size; ++row) std::copy_n(matrix + row * stride + first, kBlock, steps + row * kBlock);
  for (int64_t column = first; column < end; ++column) {
    const int64_t at = column - first;
    int64_t pivot = column;
    double most = std::fabs(steps[column * kBlock + at]);
    for (int64_t row = column + 1; row < size; ++row) {
      const double value = std::fabs(steps[row * kBlock + at]);
      if (value > most) most = value, pivot = row;
    }
    pivots[column] = pivot;
    double* const line = steps + column * kBlock;
    if (steps[pivot * kBlock + at] == 0) return false;
    if (pivot != column) {
      std::swap_ranges(line, line + kBlock, steps + pivot * kBlock);
      std::swap_ranges(matrix + column * stride, matrix + (column + 1) * stride, matrix + pivot * stride);
      product = -product;
    }
    product *= line[at];
    const double value = std::exchange(line[at], 1.0);
    if (inverts) {
      const double scale = 1 / value;
      for (int64_t k = 0; k < kBlock; ++k) line[k] *= scale;
      HWY_DYNAMIC_DISPATCH(subtract_line_loop)(line, 1, at, steps, column);
    }
    HWY_DYNAMIC_DISPATCH(subtract_line_loop)(line, inverts ? 1 : value, at, line + kBlock, size - column - 1);
  }
  const int64_t left = inverts ? 0 : first + kBlock;  // columns before are done
  if (left < stride) {
    for (int64_t row = 0; row < count; ++row) {
      double* const from = matrix + (first + row) * stride;
      std::copy(from + left, from + stride, right + row * stride);
      std::fill(from + left, from + stride, 0.0);
    }
    std::fill(right + count * stride, right + kBlock * stride, 0.0);
    const int64_t below = inverts ? 0 : end;
    HWY_DYNAMIC_DISPATCH(add_products_loop)
    (steps + below * kBlock, right, matrix + below * stride + left, stride, size - below, stride - left);
  }
  for (int64_t row = 0; inverts && row < size; ++row) std::copy_n(steps + row * kBlock, count, matrix + row * stride + first);
  return true;
}

double Elimination::determinant() {
  double product = 1;
  for (int64_t first = 0; first < size; first += kBlock) {
    if (!eliminate_block(first, false, product)) return 0;
  }
  return product;
}

bool Elimination::invert(int64_t* order) {
  double product = 1;
  for (int64_t first = 0; first < size; first += kBlock) {
    if (!eliminate_block(first, true, product)) return false;
  }
  std::iota(order, order + size, 0);
  for (int64_t column = size; column-- > 0;) std::swap(order[column], order[pivots[column]]);
  return true;
}

}  // namespace rh::compute
#endif
