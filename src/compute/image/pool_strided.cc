#include "compute/image/pool_strided.h"

#include <algorithm>
#include <limits>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/image/pool_strided.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/image/pool_fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

template <Fold kFold>
HWY_INLINE float folded_with_one(float a, float v) {
  if (kFold == Fold::sum) return a + v;
  return v > a || v != v ? v : a;
}

HWY_INLINE float factor_of(const StridedWindows& p, int64_t i) { return p.factors ? p.factors[i] : p.factor; }

HWY_INLINE void store_outputs(const StridedWindows& p, int64_t i, Vec v) {
  const Floats d;
  hn::StoreU(hn::Mul(v, p.factors ? hn::LoadU(d, p.factors + i) : set(p.factor)), d, p.y + i);
}

/// Vectors of outputs as long as `kStride` vectors hold their taps, without dilation; how many outputs they are.
template <Fold kFold, int kStride>
HWY_INLINE int64_t pool_interleaved(const StridedWindows& p) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), end = (p.outputs - 1) * kStride + p.kernel;
  const int64_t groups = (p.kernel + kStride - 1) / kStride;
  int64_t i = 0;
  for (; (i + lanes + groups - 1) * kStride <= end; i += lanes) {
    Vec all;
    for (int64_t group = 0; group < groups; ++group) {
      const float* from = p.x + (i + group) * kStride;
      const int64_t taps = p.kernel - group * kStride;
      Vec v0, v1, v2, v3;
      if constexpr (kStride == 2) hn::LoadInterleaved2(d, from, v0, v1);
      if constexpr (kStride == 3) hn::LoadInterleaved3(d, from, v0, v1, v2);
      if constexpr (kStride == 4) hn::LoadInterleaved4(d, from, v0, v1, v2, v3);
      all = group == 0 ? v0 : folded_with<kFold>(all, v0);
      if (taps > 1) all = folded_with<kFold>(all, v1);
      if constexpr (kStride > 2) {
        if (taps > 2) all = folded_with<kFold>(all, v2);
      }
      if constexpr (kStride > 3) {
        if (taps > 3) all = folded_with<kFold>(all, v3);
      }
    }
    store_outputs(p, i, all);
  }
  return i;
}

/// One output of a long window without dilation, along which vectors are folded.
template <Fold kFold>
HWY_INLINE float long_window(const float* x, int64_t kernel) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vec all = hn::LoadU(d, x);
  int64_t k = lanes;
  for (; k + lanes <= kernel; k += lanes) all = folded_with<kFold>(all, hn::LoadU(d, x + k));
  HWY_ALIGN float values[hn::MaxLanes(Floats())];
  hn::Store(all, d, values);
  float result = values[0];
  for (int64_t i = 1; i < lanes; ++i) result = folded_with_one<kFold>(result, values[i]);
  for (; k < kernel; ++k) result = folded_with_one<kFold>(result, x[k]);
  return result;
}

template <Fold kFold>
HWY_INLINE float one_window(const float* x, int64_t kernel, int64_t dilation) {
  float result = x[0];
  for (int64_t k = 1; k < kernel; ++k) result = folded_with_one<kFold>(result, x[k * dilation]);
  return result;
}

template <Fold kFold>
HWY_INLINE void pool_windows(const StridedWindows& p) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t done = 0;
  if (p.dilation == 1 && p.kernel <= 4 * p.stride) {
    if (p.stride == 2) done = pool_interleaved<kFold, 2>(p);
    if (p.stride == 3) done = pool_interleaved<kFold, 3>(p);
    if (p.stride == 4) done = pool_interleaved<kFold, 4>(p);
  }
  if (p.dilation == 1 && p.kernel >= 2 * lanes) {
    for (; done < p.outputs; ++done) p.y[done] = factor_of(p, done) * long_window<kFold>(p.x + done * p.stride, p.kernel);
    return;
  }
  if (p.outputs < lanes || p.stride * lanes > std::numeric_limits<int32_t>::max()) {
    for (; done < p.outputs; ++done) p.y[done] = factor_of(p, done) * one_window<kFold>(p.x + done * p.stride, p.kernel, p.dilation);
    return;
  }
  const Ints di;
  const auto apart = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(p.stride)));
  for (; done < p.outputs; done += lanes) {
    const int64_t at = std::min(done, p.outputs - lanes);  // the last vector takes some outputs a second time
    const float* from = p.x + at * p.stride;
    Vec all = hn::GatherIndex(d, from, apart);
    for (int64_t k = 1; k < p.kernel; ++k) all = folded_with<kFold>(all, hn::GatherIndex(d, from + k * p.dilation, apart));
    store_outputs(p, at, all);
  }
}

void pool_strided_loop(const StridedWindows& p) {
  if (p.sums) return pool_windows<Fold::sum>(p);
  p.numbers ? pool_windows<Fold::largest_of_numbers>(p) : pool_windows<Fold::largest>(p);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(pool_strided_loop);

void pool_strided(const StridedWindows& windows) { HWY_DYNAMIC_DISPATCH(pool_strided_loop)(windows); }

}  // namespace rh::compute
#endif
