#include "compute/gemm/integer_gemm.h"

#include <algorithm>

#include "base/cancellation.h"
#include "compute/scratch.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/gemm/integer_gemm.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/number_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

constexpr int64_t kTileRows = 4, kTileVectors = 4;

/// `columns` columns of C in kRows rows; B's rows lie `ldb` apart, and have kVectors whole vectors.
template <int kRows, int kVectors, typename T>
HWY_INLINE void multiply_tile(const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc, int64_t k, int64_t columns) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[kRows][kVectors];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
  for (int64_t i = 0; i < k; ++i, b += ldb) {
    hn::Vec<decltype(d)> right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const auto left = hn::Set(d, a[r * lda + i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Add(sums[r][v], hn::Mul(left, right[v]));
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int64_t left = columns - v * lanes;
      T* to = c + r * ldc + v * lanes;
      if (left >= lanes) {
        hn::StoreU(sums[r][v], d, to);
      } else if (left > 0) {
        store_first(sums[r][v], to, left);
      }
    }
  }
}

template <int kVectors, typename T>
HWY_INLINE void multiply_rows(const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc, int64_t rows, int64_t k,
                              int64_t columns) {
  int64_t row = 0;
  for (; row + kTileRows <= rows; row += kTileRows) {
    throw_if_cancelled();
    multiply_tile<kTileRows, kVectors>(a + row * lda, lda, b, ldb, c + row * ldc, ldc, k, columns);
  }
  for (; row < rows; ++row) multiply_tile<1, kVectors>(a + row * lda, lda, b, ldb, c + row * ldc, ldc, k, columns);
}

/// Rows of A by up to four vectors of columns of B, which are brought together where many rows need them, or where they are no whole
/// vectors.
template <typename T>
HWY_INLINE void multiply_panel(const T* a, const T* b, T* c, int64_t rows, int64_t n, int64_t k, int64_t columns) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>())), vectors = (columns + lanes - 1) / lanes;
  const int64_t width = (vectors == 3 ? 4 : vectors) * lanes;
  constexpr int64_t kManyRows = 16;
  int64_t ldb = n;
  if (rows >= kManyRows || columns < width) {
    T* packed = static_cast<T*>(thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(k * width) * sizeof(T)));
    for (int64_t i = 0; i < k; ++i) {
      std::copy_n(b + i * n, columns, packed + i * width);
      std::fill_n(packed + i * width + columns, width - columns, T(0));
    }
    b = packed;
    ldb = width;
  }
  switch (width / lanes) {
    case 1: return multiply_rows<1>(a, k, b, ldb, c, n, rows, k, columns);
    case 2: return multiply_rows<2>(a, k, b, ldb, c, n, rows, k, columns);
    default: return multiply_rows<4>(a, k, b, ldb, c, n, rows, k, columns);
  }
}

void multiply_panel_ints(const int32_t* a, const int32_t* b, int32_t* c, int64_t rows, int64_t n, int64_t k, int64_t columns) {
  multiply_panel(a, b, c, rows, n, k, columns);
}
void multiply_panel_longs(const int64_t* a, const int64_t* b, int64_t* c, int64_t rows, int64_t n, int64_t k, int64_t columns) {
  multiply_panel(a, b, c, rows, n, k, columns);
}
int64_t tile_bytes() { return kTileVectors * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<uint8_t>())); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(multiply_panel_ints);
HWY_EXPORT(multiply_panel_longs);
HWY_EXPORT(tile_bytes);

namespace {

/// multiply(a, b, c, rows, columns) for panels of columns and blocks of rows.
template <typename T, typename F>
void for_panels(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k, const Parallel& parallel, F multiply) {
  constexpr int64_t kBlock = 64;  // rows
  const int64_t width = std::max<int64_t>(1, HWY_DYNAMIC_DISPATCH(tile_bytes)() / static_cast<int64_t>(sizeof(T)));
  const int64_t panels = (n + width - 1) / width, blocks = (m + kBlock - 1) / kBlock;
  const double products = static_cast<double>(std::min(m, kBlock)) * static_cast<double>(std::min(n, width)) * static_cast<double>(k + 1);
  parallel.for_range(panels * blocks, {.operations = 2 * products}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t column = i / blocks * width, row = i % blocks * kBlock;
      multiply(a + row * k, b + column, c + row * n + column, std::min(kBlock, m - row), std::min(width, n - column));
    }
  });
}

}  // namespace

void integer_gemm(const int32_t* a, const int32_t* b, int32_t* c, int64_t m, int64_t n, int64_t k, const Parallel& parallel) {
  for_panels(a, b, c, m, n, k, parallel, [=](const int32_t* x, const int32_t* y, int32_t* z, int64_t rows, int64_t columns) {
    HWY_DYNAMIC_DISPATCH(multiply_panel_ints)(x, y, z, rows, n, k, columns);
  });
}
void integer_gemm(const int64_t* a, const int64_t* b, int64_t* c, int64_t m, int64_t n, int64_t k, const Parallel& parallel) {
  for_panels(a, b, c, m, n, k, parallel, [=](const int64_t* x, const int64_t* y, int64_t* z, int64_t rows, int64_t columns) {
    HWY_DYNAMIC_DISPATCH(multiply_panel_longs)(x, y, z, rows, n, k, columns);
  });
}

}  // namespace rh::compute
#endif
