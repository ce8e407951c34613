// How pooling takes in one more vector of values, compiled once a target.
#if defined(RH_COMPUTE_POOL_FOLD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RH_COMPUTE_POOL_FOLD_INL_H
#undef RH_COMPUTE_POOL_FOLD_INL_H
#else
#define RH_COMPUTE_POOL_FOLD_INL_H
#endif

#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

enum class Fold { sum, largest_of_numbers, largest };

template <Fold kFold>
HWY_INLINE Vec folded_with(Vec a, Vec v) {
  if constexpr (kFold == Fold::sum) return hn::Add(a, v);
  if constexpr (kFold == Fold::largest_of_numbers) return hn::Max(a, v);
  return hn::IfThenElse(hn::Or(hn::Gt(v, a), is_nan(v)), v, a);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#endif
