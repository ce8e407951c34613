#include "compute/conv/conv_pack.h"

#include "compute/conv/winograd/conv_winograd.h"
#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/conv/conv_pack.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<double>;
using Narrow = hn::Rebind<float, Wide>;
using V = hn::Vec<Wide>;

/// G times three weights: tiles of 2x2 and of 4x4 outputs.
struct SpreadTwo {
  static constexpr int kCount = 4;
  HWY_INLINE void operator()(V a, V b, V c, V (&to)[kCount]) const {
    const V half = hn::Set(Wide(), 0.5), even = hn::Mul(hn::Add(a, c), half), odd = hn::Mul(b, half);
    to[0] = a;
    to[1] = hn::Add(even, odd);
    to[2] = hn::Sub(even, odd);
    to[3] = c;
  }
};
struct SpreadFour {
  static constexpr int kCount = 6;
  HWY_INLINE void operator()(V a, V b, V c, V (&to)[kCount]) const {
    const auto times = [](V x, double factor) { return hn::Mul(x, hn::Set(Wide(), factor)); };
    const V near = times(hn::Add(a, c), -1.0 / 6), odd = times(b, 1.0 / 6), far = hn::Add(times(a, 1.0 / 24), times(c, 1.0 / 6));
    to[0] = times(a, 0.25);
    to[1] = hn::Sub(near, odd);
    to[2] = hn::Add(near, odd);
    to[3] = hn::Add(far, times(odd, 0.5));
    to[4] = hn::Sub(far, times(odd, 0.5));
    to[5] = c;
  }
};

/// G g G^T of `count` kernels: position (tap) p of kernel r lies at u[p * u_step + r] (g[p * g_step + r]); whole vectors of g are read.
template <class Spread>
HWY_INLINE void spread(const float* g, int64_t g_step, float* u, int64_t u_step, int64_t count) {
  constexpr int kCount = Spread::kCount;
  constexpr Spread three;
  const Wide wide;
  const Narrow narrow;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(wide));
  for (int64_t r = 0; r < count; r += lanes) {
    const auto load = [&](int tap) { return hn::PromoteTo(wide, hn::LoadU(narrow, g + tap * g_step + r)); };
    V rows[3][kCount], row[kCount];
    for (int c = 0; c < 3; ++c) three(load(c), load(3 + c), load(6 + c), rows[c]);
    for (int i = 0; i < kCount; ++i) {
      three(rows[0][i], rows[1][i], rows[2][i], row);
      for (int j = 0; j < kCount; ++j) {
        float* const to = u + (i * kCount + j) * u_step + r;
        const auto rounded = hn::DemoteTo(narrow, row[j]);
        if (r + lanes <= count) {
          hn::StoreU(rounded, narrow, to);
        } else {
          HWY_ALIGN float ends[HWY_MAX_BYTES / sizeof(double)];
          hn::Store(rounded, narrow, ends);
          std::copy_n(ends, count - r, to);
        }
      }
    }
  }
}

void spread_kernels(int64_t size, const float* g, int64_t g_step, float* u, int64_t u_step, int64_t count) {
  if (size == 2)
    spread<SpreadTwo>(g, g_step, u, u_step, count);
  else
    spread<SpreadFour>(g, g_step, u, u_step, count);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(spread_kernels);

void pack_winograd(int64_t size, const float* weights, int64_t channels, int64_t rows, int64_t width, float* to) {
  constexpr int64_t kTaps = 9, kChannels = 14, kMostRows = 32;
  alignas(64) float block[kChannels * kTaps * kMostRows] = {};
  for (int64_t first = 0; first < channels; first += kChannels) {
    const int64_t count = std::min(kChannels, channels - first);
    transpose_words(reinterpret_cast<const uint32_t*>(weights + first * kTaps), channels * kTaps, reinterpret_cast<uint32_t*>(block),
                    kMostRows, count * kTaps, rows);
    for (int64_t c = 0; c < count; ++c)
      HWY_DYNAMIC_DISPATCH(spread_kernels)(size, block + c * kTaps * kMostRows, kMostRows, to + (first + c) * width, channels * width,
                                           width);
  }
}

}  // namespace rh::compute
#endif
