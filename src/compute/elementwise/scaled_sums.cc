#include "compute/elementwise/scaled_sums.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/scaled_sums.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

void add_product_loop(const float* x, const float* z, float factor, float* y, int64_t count) {
  map2(x, z, y, count, [=](Vec a, Vec b) HWY_ATTR { return hn::Add(a, hn::Mul(b, set(factor))); });
}

void scaled_sum_loop(const float* a, const float* b, float factor, float* y, int64_t count) {
  map2(a, b, y, count, [=](Vec v, Vec w) HWY_ATTR { return hn::Mul(hn::Add(v, w), set(factor)); });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(add_product_loop);
HWY_EXPORT(scaled_sum_loop);

void add_product(const float* x, const float* z, float factor, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(add_product_loop)(x, z, factor, y, count);
}

void scaled_sum(const float* a, const float* b, float factor, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(scaled_sum_loop)(a, b, factor, y, count);
}

}  // namespace rh::compute
#endif
