#include "compute/reduce/similarity.h"

#include <algorithm>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/reduce/similarity.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

HWY_INLINE Vec with_square(Vec sum, Vec difference) { return hn::MulAdd(difference, difference, sum); }

void distances_loop(const float* x, const float* columns, int64_t length, int64_t count, float* y) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t k = 0;
  for (; k + 4 * lanes <= count; k += 4 * lanes) {
    Vec s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const float* from = columns + k;
    for (int64_t i = 0; i < length; ++i, from += count) {
      const Vec v = set(x[i]);
      s0 = with_square(s0, hn::Sub(v, hn::LoadU(d, from)));
      s1 = with_square(s1, hn::Sub(v, hn::LoadU(d, from + lanes)));
      s2 = with_square(s2, hn::Sub(v, hn::LoadU(d, from + 2 * lanes)));
      s3 = with_square(s3, hn::Sub(v, hn::LoadU(d, from + 3 * lanes)));
    }
    hn::StoreU(s0, d, y + k);
    hn::StoreU(s1, d, y + k + lanes);
    hn::StoreU(s2, d, y + k + 2 * lanes);
    hn::StoreU(s3, d, y + k + 3 * lanes);
  }
  for (; k + lanes <= count; k += lanes) {
    Vec sum = hn::Zero(d);
    for (int64_t i = 0; i < length; ++i) sum = with_square(sum, hn::Sub(set(x[i]), hn::LoadU(d, columns + i * count + k)));
    hn::StoreU(sum, d, y + k);
  }
  const size_t rest = static_cast<size_t>(count - k);
  if (rest == 0) return;
  Vec sum = hn::Zero(d);
  for (int64_t i = 0; i < length; ++i) sum = with_square(sum, hn::Sub(set(x[i]), load_some(columns + i * count + k, rest)));
  store_some(sum, y + k, rest);
}

double dot_loop(const float* a, const float* b, int64_t count) {
  constexpr int64_t kSums = 8;
  const hn::CappedTag<double, kSums> d;
  const hn::Rebind<float, decltype(d)> narrow;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  V sums[kSums / kLanes];
  for (V& sum : sums) sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t k = 0; k < kSums / kLanes; ++k) {
      const V x = hn::PromoteTo(d, hn::LoadU(narrow, a + i + k * kLanes)), z = hn::PromoteTo(d, hn::LoadU(narrow, b + i + k * kLanes));
      sums[k] = hn::MulAdd(x, z, sums[k]);
    }
  }
  HWY_ALIGN double parts[kSums];
  for (int64_t k = 0; k < kSums / kLanes; ++k) hn::StoreU(sums[k], d, parts + k * kLanes);
  double total = 0;
  for (const double part : parts) total += part;
  for (; i < count; ++i) total += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return total;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(distances_loop);
HWY_EXPORT(dot_loop);

void squared_distances(const float* x, const float* columns, int64_t length, int64_t count, float* y) {
  if (length <= 0) {  // there may be no columns
    std::fill_n(y, std::max<int64_t>(0, count), 0.0f);
    return;
  }
  HWY_DYNAMIC_DISPATCH(distances_loop)(x, columns, length, count, y);
}
double dot_product(const float* a, const float* b, int64_t count) { return HWY_DYNAMIC_DISPATCH(dot_loop)(a, b, count); }

}  // namespace rh::compute
#endif
