#include "compute/elementwise/narrow_floats.h"

#include <limits>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/narrow_floats.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::ScalableTag<uint32_t>;
using Floats = hn::ScalableTag<float>;
using SignedWords = hn::ScalableTag<int32_t>;
using Halves = hn::Rebind<uint16_t, Words>;
using Word = hn::Vec<Words>;

HWY_INLINE Word word(uint32_t x) { return hn::Set(Words(), x); }

// Comparisons of numbers below 2^31.
HWY_INLINE hn::Mask<Words> below(Word a, uint32_t b) {
  const SignedWords d;
  return hn::RebindMask(Words(), hn::Lt(hn::BitCast(d, a), hn::Set(d, static_cast<int32_t>(b))));
}

// Bits of a float16 in the low half to those of a float.
HWY_INLINE Word widen_half(Word half) {
  const Word sign = hn::ShiftLeft<16>(hn::And(half, word(0x8000))), magnitude = hn::And(half, word(0x7fff));
  const Word shifted = hn::ShiftLeft<13>(magnitude);
  const Word normal = hn::Add(shifted, word(0x38000000)), special = hn::Or(shifted, word(0x7f800000));
  const auto as_float = hn::ConvertTo(Floats(), hn::BitCast(SignedWords(), magnitude));
  const Word subnormal = hn::BitCast(Words(), hn::Mul(as_float, hn::Set(Floats(), 0x1p-24f)));
  const Word finite = hn::IfThenElse(below(magnitude, 0x400), subnormal, normal);
  return hn::Or(sign, hn::IfThenElse(below(magnitude, 0x7c00), finite, special));
}

HWY_INLINE Word narrow_half(Word bits) {
  const Word sign = hn::And(hn::ShiftRight<16>(bits), word(0x8000)), magnitude = hn::And(bits, word(0x7fffffff));
  const Word odd = hn::And(hn::ShiftRight<13>(magnitude), word(1));
  const Word normal = hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, word(0x38000000 - 0xfff)), odd));
  const auto scaled = hn::Add(hn::BitCast(Floats(), magnitude), hn::Set(Floats(), 0.5f));
  const Word subnormal = hn::Sub(hn::BitCast(Words(), scaled), word(0x3f000000));
  const Word nan = hn::Or(word(0x7e00), hn::And(hn::ShiftRight<13>(magnitude), word(0x3ff)));
  const Word finite = hn::IfThenElse(below(magnitude, 0x38800000), subnormal, normal);
  const Word special = hn::IfThenElse(below(magnitude, 0x7f800001), word(0x7c00), nan);
  return hn::Or(sign, hn::IfThenElse(below(magnitude, 0x477ff000), finite, special));
}

HWY_INLINE Word narrow_bfloat(Word bits) {
  const Word odd = hn::And(hn::ShiftRight<16>(bits), word(1));
  const Word rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, word(0x7fff)), odd));
  const Word nan = hn::Or(hn::ShiftRight<16>(bits), word(0x40));
  return hn::IfThenElse(below(hn::And(bits, word(0x7fffffff)), 0x7f800001), rounded, nan);
}

template <typename F>
HWY_INLINE int64_t widen_words(const uint16_t* x, float* y, int64_t count, F f) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Words()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(f(hn::PromoteTo(Words(), hn::LoadU(Halves(), x + i))), Words(), reinterpret_cast<uint32_t*>(y + i));
  }
  return i;
}

template <typename F>
HWY_INLINE int64_t narrow_words(const float* x, uint16_t* y, int64_t count, F f) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Words()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Word word = f(hn::BitCast(Words(), hn::LoadU(Floats(), x + i)));
    hn::StoreU(hn::DemoteTo(Halves(), hn::BitCast(SignedWords(), word)), Halves(), y + i);
  }
  return i;
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// By the processor's own conversions, but for signalling NaNs, which those change.
int64_t widen_halves(const uint16_t* x, float* y, int64_t count) {
  const Floats d;
  const hn::Rebind<hwy::float16_t, Floats> halves;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::LoadU(Halves(), x + i);
    const auto wide = hn::PromoteTo(d, hn::BitCast(halves, bits));
    if (HWY_LIKELY(hn::AllTrue(d, hn::Eq(wide, wide))))
      hn::StoreU(wide, d, y + i);
    else
      hn::StoreU(widen_half(hn::PromoteTo(Words(), bits)), Words(), reinterpret_cast<uint32_t*>(y + i));
  }
  return i;
}
int64_t narrow_halves(const float* x, uint16_t* y, int64_t count) {
  const Floats d;
  const hn::Rebind<hwy::float16_t, Floats> halves;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::BitCast(Halves(), hn::DemoteTo(halves, hn::LoadU(d, x + i))), Halves(), y + i);
  return i;
}
#else
int64_t widen_halves(const uint16_t* x, float* y, int64_t count) {
  return widen_words(x, y, count, [](Word w) HWY_ATTR { return widen_half(w); });
}
int64_t narrow_halves(const float* x, uint16_t* y, int64_t count) {
  return narrow_words(x, y, count, [](Word w) HWY_ATTR { return narrow_half(w); });
}
#endif
int64_t widen_bfloats(const uint16_t* x, float* y, int64_t count) {
  return widen_words(x, y, count, [](Word w) HWY_ATTR { return hn::ShiftLeft<16>(w); });
}
int64_t narrow_bfloats(const float* x, uint16_t* y, int64_t count) {
  return narrow_words(x, y, count, [](Word w) HWY_ATTR { return narrow_bfloat(w); });
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// By the processor's own conversion, which gives the least number of whatever does not fit.
int64_t truncate_floats(const float* x, int32_t* y, int64_t count) {
  const hn::Rebind<int32_t, Floats> whole;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(whole));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
#if HWY_TARGET == HWY_AVX3
    const hn::Vec<decltype(whole)> v{_mm512_cvttps_epi32(hn::LoadU(Floats(), x + i).raw)};
#else
    const hn::Vec<decltype(whole)> v{_mm256_cvttps_epi32(hn::LoadU(Floats(), x + i).raw)};
#endif
    hn::StoreU(v, whole, y + i);
  }
  return i;
}
#else
int64_t truncate_floats(const float* x, int32_t* y, int64_t count) {
  const Floats d;
  const hn::Rebind<int32_t, Floats> whole;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto limit = hn::Set(d, 0x1p31f), least = hn::Set(d, -0x1p31f);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    const auto fits = hn::And(hn::Ge(v, least), hn::Lt(v, limit));
    hn::StoreU(hn::ConvertTo(whole, hn::IfThenElse(fits, v, least)), whole, y + i);
  }
  return i;
}
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(widen_halves);
HWY_EXPORT(widen_bfloats);
HWY_EXPORT(narrow_halves);
HWY_EXPORT(narrow_bfloats);
HWY_EXPORT(truncate_floats);

void widen(const Float16* x, float* y, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(widen_halves)(&x->bits, y, count); i < count; ++i) y[i] = x[i];
}
void widen(const BFloat16* x, float* y, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(widen_bfloats)(&x->bits, y, count); i < count; ++i) y[i] = x[i];
}
void narrow(const float* x, Float16* y, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(narrow_halves)(x, &y->bits, count); i < count; ++i) y[i] = Float16(x[i]);
}
void narrow(const float* x, BFloat16* y, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(narrow_bfloats)(x, &y->bits, count); i < count; ++i) y[i] = BFloat16(x[i]);
}
void truncate(const float* x, int32_t* y, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(truncate_floats)(x, y, count); i < count; ++i) {
    y[i] = x[i] >= -0x1p31f && x[i] < 0x1p31f ? static_cast<int32_t>(x[i]) : std::numeric_limits<int32_t>::min();
  }
}

}  // namespace rh::compute
#endif
