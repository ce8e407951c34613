#include "compute/reduce/distances.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/reduce/distances.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/number_loops-inl.h"
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

int64_t add_norms_loop(float norm, const float* norms, float share, float* y, int64_t count) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Vec own = set(norm), part = set(share), most = set(hwy::HighestValue<float>());
  int64_t kept = 0;
  const auto fits = [&](Vec whole, Vec y_j) HWY_ATTR { return hn::And(hn::Gt(y_j, hn::Mul(whole, part)), hn::Le(y_j, most)); };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vec whole = hn::Add(own, hn::LoadU(d, norms + i)), sum = hn::Add(hn::LoadU(d, y + i), whole);
    hn::StoreU(sum, d, y + i);
    kept += static_cast<int64_t>(hn::CountTrue(d, fits(whole, sum)));
  }
  if (i < count) {
    const size_t live = static_cast<size_t>(count - i);
    const Vec whole = hn::Add(own, load_some(norms + i, live)), sum = hn::Add(load_some(y + i, live), whole);
    store_some(sum, y + i, live);
    kept += static_cast<int64_t>(hn::CountTrue(d, hn::And(fits(whole, sum), hn::FirstN(d, live))));
  }
  return count - kept;
}

int64_t add_double_norms_loop(double norm, const double* norms, double share, double* y, int64_t count) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto own = hn::Set(d, norm), part = hn::Set(d, share), most = hn::Set(d, hwy::HighestValue<double>());
  int64_t kept = 0;
  const auto fits = [&](auto whole, auto y_j) HWY_ATTR { return hn::And(hn::Gt(y_j, hn::Mul(whole, part)), hn::Le(y_j, most)); };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto whole = hn::Add(own, hn::LoadU(d, norms + i)), sum = hn::Add(hn::LoadU(d, y + i), whole);
    hn::StoreU(sum, d, y + i);
    kept += static_cast<int64_t>(hn::CountTrue(d, fits(whole, sum)));
  }
  if (const int64_t live = count - i; live > 0) {
    const auto whole = hn::Add(own, load_first(norms + i, live)), sum = hn::Add(load_first(y + i, live), whole);
    store_first(sum, y + i, live);
    kept += static_cast<int64_t>(hn::CountTrue(d, hn::And(fits(whole, sum), hn::FirstN(d, static_cast<size_t>(live)))));
  }
  return count - kept;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(add_norms_loop);
HWY_EXPORT(add_double_norms_loop);

int64_t add_norms(float norm, const float* norms, float share, float* y, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(add_norms_loop)(norm, norms, share, y, count);
}
int64_t add_norms(double norm, const double* norms, double share, double* y, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(add_double_norms_loop)(norm, norms, share, y, count);
}

}  // namespace rh::compute
#endif
