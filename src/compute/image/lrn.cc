#include "compute/image/lrn.h"

#include <algorithm>
#include <cmath>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/image/lrn.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// One vector of columns of one channel; the base of the power alone where beta is none that square roots give.
HWY_INLINE Vec respond(const Lrn& p, const float* x, int64_t channel, size_t live) {
  const bool whole = live == hn::Lanes(Floats());
  const auto read = [=](const float* from) HWY_ATTR { return whole ? hn::LoadU(Floats(), from) : load_some(from, live); };
  const int64_t low = HWY_MAX(int64_t{0}, channel - p.before), high = HWY_MIN(p.channels - 1, channel + p.after);
  Vec sum = set(0.0f);
  for (int64_t c = low; c <= high; ++c) {
    const Vec v = read(x + c * p.inner);
    sum = hn::MulAdd(v, v, sum);
  }
  const Vec base = hn::MulAdd(set(p.scale), sum, set(p.bias));
  if (p.beta != 0.75f && p.beta != 0.5f) return base;
  const Vec root = hn::Sqrt(base), power = p.beta == 0.5f ? root : hn::Mul(root, hn::Sqrt(root));
  return hn::Div(read(x + channel * p.inner), power);
}

void lrn_loop(const Lrn& p, const float* x, float* y, int64_t begin, int64_t end) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t channel = 0; channel < p.channels; ++channel) {
    float* to = y + channel * p.inner;
    int64_t i = begin;
    for (; i + lanes <= end; i += lanes) hn::StoreU(respond(p, x + i, channel, static_cast<size_t>(lanes)), d, to + i);
    if (i < end) store_some(respond(p, x + i, channel, static_cast<size_t>(end - i)), to + i, static_cast<size_t>(end - i));
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(lrn_loop);

void local_response(const Lrn& lrn, const float* x, float* y, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = 256;  // columns whose neighbouring channels stay in the first-level cache
  for (int64_t i = begin; i < end; i += kBlock) {
    const int64_t stop = std::min(end, i + kBlock);
    HWY_DYNAMIC_DISPATCH(lrn_loop)(lrn, x, y, i, stop);
    if (lrn.beta == 0.75f || lrn.beta == 0.5f) continue;
    for (int64_t channel = 0; channel < lrn.channels; ++channel) {
      for (int64_t k = channel * lrn.inner + i; k < channel * lrn.inner + stop; ++k) y[k] = x[k] / std::pow(y[k], lrn.beta);
    }
  }
}

}  // namespace rh::compute
#endif
