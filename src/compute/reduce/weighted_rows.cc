#include "compute/reduce/weighted_rows.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/reduce/weighted_rows.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// Four vectors of columns of one sum.
HWY_INLINE void sum_four(const float* x, int64_t x_stride, const WeightedRow* rows, size_t count, float* y) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vec a0 = set(0.0f), a1 = a0, a2 = a0, a3 = a0;
  for (size_t i = 0; i < count; ++i) {
    const float* from = x + rows[i].row * x_stride;
    const Vec w = set(rows[i].weight);
    a0 = hn::MulAdd(hn::LoadU(d, from), w, a0);
    a1 = hn::MulAdd(hn::LoadU(d, from + lanes), w, a1);
    a2 = hn::MulAdd(hn::LoadU(d, from + 2 * lanes), w, a2);
    a3 = hn::MulAdd(hn::LoadU(d, from + 3 * lanes), w, a3);
  }
  hn::StoreU(a0, d, y);
  hn::StoreU(a1, d, y + lanes);
  hn::StoreU(a2, d, y + 2 * lanes);
  hn::StoreU(a3, d, y + 3 * lanes);
}

HWY_INLINE void sum_one(const float* x, int64_t x_stride, const WeightedRow* rows, size_t count, size_t live, float* y) {
  const Floats d;
  Vec sum = set(0.0f);
  if (live == hn::Lanes(d)) {
    for (size_t i = 0; i < count; ++i) sum = hn::MulAdd(hn::LoadU(d, x + rows[i].row * x_stride), set(rows[i].weight), sum);
    hn::StoreU(sum, d, y);
    return;
  }
  for (size_t i = 0; i < count; ++i) sum = hn::MulAdd(load_some(x + rows[i].row * x_stride, live), set(rows[i].weight), sum);
  store_some(sum, y, live);
}

void sum_rows_loop(const float* x, int64_t x_stride, int64_t length, const WeightedRow* rows, const size_t* ends, int64_t count, float* y,
                   int64_t y_stride) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  size_t begin = 0;
  for (int64_t sum = 0; sum < count; ++sum, y += y_stride) {
    const size_t terms = ends[sum] - begin;
    int64_t i = 0;
    for (; i + 4 * lanes <= length; i += 4 * lanes) sum_four(x + i, x_stride, rows + begin, terms, y + i);
    for (; i < length; i += lanes) sum_one(x + i, x_stride, rows + begin, terms, static_cast<size_t>(HWY_MIN(lanes, length - i)), y + i);
    begin = ends[sum];
  }
}

/// kVectors vectors of columns, the last one of them of `live` lanes.
template <size_t kVectors>
HWY_INLINE void largest_vectors(const float* x, int64_t x_stride, int64_t rows, int64_t columns, int64_t length, size_t live, float* y) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  Vec most[kVectors];
  for (Vec& v : most) v = set(-3.402823466e38f);
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = x + row * x_stride;
    for (int64_t column = 0; column < columns; ++column, from += length) {
      for (size_t i = 0; i < kVectors; ++i) {
        const Vec v = i + 1 < kVectors || live == lanes ? hn::LoadU(d, from + i * lanes) : load_some(from + i * lanes, live);
        most[i] = hn::IfThenElse(hn::Lt(most[i], v), v, most[i]);
      }
    }
  }
  for (size_t i = 0; i + 1 < kVectors; ++i) hn::StoreU(most[i], d, y + i * lanes);
  store_some(most[kVectors - 1], y + (kVectors - 1) * lanes, live);
}

void largest_of_area_loop(const float* x, int64_t x_stride, int64_t rows, int64_t columns, int64_t length, float* y) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + 4 * lanes <= length; i += 4 * lanes)
    largest_vectors<4>(x + i, x_stride, rows, columns, length, static_cast<size_t>(lanes), y + i);
  for (; i < length; i += lanes)
    largest_vectors<1>(x + i, x_stride, rows, columns, length, static_cast<size_t>(HWY_MIN(lanes, length - i)), y + i);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(sum_rows_loop);
HWY_EXPORT(largest_of_area_loop);

void sum_rows(const float* x, int64_t x_stride, int64_t length, const WeightedRow* rows, const size_t* ends, int64_t count, float* y,
              int64_t y_stride) {
  HWY_DYNAMIC_DISPATCH(sum_rows_loop)(x, x_stride, length, rows, ends, count, y, y_stride);
}

void largest_of_area(const float* x, int64_t x_stride, int64_t rows, int64_t columns, int64_t length, float* y) {
  HWY_DYNAMIC_DISPATCH(largest_of_area_loop)(x, x_stride, rows, columns, length, y);
}

}  // namespace rh::compute
#endif
