// Operations of one vector that cost little, compiled once a target: the loops of rows and the chains in registers share them.
#if defined(RH_COMPUTE_VECTOR_OPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RH_COMPUTE_VECTOR_OPS_INL_H
#undef RH_COMPUTE_VECTOR_OPS_INL_H
#else
#define RH_COMPUTE_VECTOR_OPS_INL_H
#endif

#include "compute/simd_math-inl.h"
#include "compute/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

template <Binary kOp>
HWY_INLINE Vec applied(Vec a, Vec b) {
  if constexpr (kOp == Binary::add) return hn::Add(a, b);
  if constexpr (kOp == Binary::sub) return hn::Sub(a, b);
  if constexpr (kOp == Binary::mul) return hn::Mul(a, b);
  if constexpr (kOp == Binary::div) return hn::Div(a, b);
  if constexpr (kOp == Binary::min) return hn::IfThenElse(hn::Or(hn::Lt(a, b), is_nan(a)), a, b);
  if constexpr (kOp == Binary::max) return hn::IfThenElse(hn::Or(hn::Gt(a, b), is_nan(a)), a, b);
  if constexpr (kOp == Binary::prelu) return hn::IfThenElse(hn::Lt(a, set(0.0f)), hn::Mul(a, b), a);
}

HWY_INLINE Vec relu(Vec x) { return hn::IfThenZeroElse(hn::Lt(x, set(0.0f)), x); }
HWY_INLINE Vec leaky_relu(Vec x, float slope) { return applied<Binary::prelu>(x, set(slope)); }
HWY_INLINE Vec reciprocal(Vec x) { return hn::Div(set(1.0f), x); }
HWY_INLINE Vec softsign(Vec x) { return hn::Div(x, hn::Add(set(1.0f), hn::Abs(x))); }
HWY_INLINE Vec hard_sigmoid(Vec x, float slope, float shift) {
  return clamped(hn::MulAdd(x, set(slope), set(shift)), set(0.0f), set(1.0f));
}
HWY_INLINE Vec hard_swish(Vec x) { return hn::Mul(x, hard_sigmoid(x, 1.0f / 6, 0.5f)); }

HWY_INLINE Vec sign(Vec x) {
  const Vec zero = set(0.0f);
  return keep_nan(x, hn::IfThenElse(hn::Gt(x, zero), set(1.0f), hn::IfThenElse(hn::Lt(x, zero), set(-1.0f), zero)));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#endif
