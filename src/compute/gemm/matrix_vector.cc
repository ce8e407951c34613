#include "compute/gemm/matrix_vector.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/gemm/matrix_vector.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// The sums of four rows go on side by side, each in two parts, so that none waits for the one before.
HWY_INLINE void four_rows(const float* a, int64_t columns, const float* x, float* y) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const float *a1 = a + columns, *a2 = a1 + columns, *a3 = a2 + columns;
  Vec s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, t0 = s0, t1 = s0, t2 = s0, t3 = s0;
  int64_t i = 0;
  for (; i + 2 * lanes <= columns; i += 2 * lanes) {
    const Vec u = hn::LoadU(d, x + i), v = hn::LoadU(d, x + i + lanes);
    s0 = hn::MulAdd(u, hn::LoadU(d, a + i), s0), t0 = hn::MulAdd(v, hn::LoadU(d, a + i + lanes), t0);
    s1 = hn::MulAdd(u, hn::LoadU(d, a1 + i), s1), t1 = hn::MulAdd(v, hn::LoadU(d, a1 + i + lanes), t1);
    s2 = hn::MulAdd(u, hn::LoadU(d, a2 + i), s2), t2 = hn::MulAdd(v, hn::LoadU(d, a2 + i + lanes), t2);
    s3 = hn::MulAdd(u, hn::LoadU(d, a3 + i), s3), t3 = hn::MulAdd(v, hn::LoadU(d, a3 + i + lanes), t3);
  }
  for (; i < columns; i += lanes) {
    const auto rest = static_cast<size_t>(HWY_MIN(lanes, columns - i));
    const bool whole = rest == static_cast<size_t>(lanes);
    const auto load = [=](const float* from) HWY_ATTR { return whole ? hn::LoadU(d, from + i) : load_some(from + i, rest); };
    const Vec u = load(x);
    s0 = hn::MulAdd(u, load(a), s0), s1 = hn::MulAdd(u, load(a1), s1), s2 = hn::MulAdd(u, load(a2), s2), s3 = hn::MulAdd(u, load(a3), s3);
  }
  y[0] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, t0)));
  y[1] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s1, t1)));
  y[2] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s2, t2)));
  y[3] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s3, t3)));
}

HWY_INLINE float one_row(const float* a, int64_t columns, const float* x) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vec s = hn::Zero(d), t = s;
  int64_t i = 0;
  for (; i + 2 * lanes <= columns; i += 2 * lanes) {
    s = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, a + i), s);
    t = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, a + i + lanes), t);
  }
  for (; i + lanes <= columns; i += lanes) s = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, a + i), s);
  const auto rest = static_cast<size_t>(columns - i);
  if (rest > 0) t = hn::MulAdd(load_some(x + i, rest), load_some(a + i, rest), t);
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(s, t)));
}

void matrix_vector_loop(const float* a, const float* x, float* y, int64_t rows, int64_t columns) {
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4) four_rows(a + row * columns, columns, x, y + row);
  for (; row < rows; ++row) y[row] = one_row(a + row * columns, columns, x);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(matrix_vector_loop);

void matrix_vector(const float* a, const float* x, float* y, int64_t rows, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(matrix_vector_loop)(a, x, y, rows, columns);
}

}  // namespace rh::compute
#endif
