// GELU, x Phi(x), and its approximation by tanh, compiled once a target.
#if defined(RH_COMPUTE_GELU_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RH_COMPUTE_GELU_INL_H
#undef RH_COMPUTE_GELU_INL_H
#else
#define RH_COMPUTE_GELU_INL_H
#endif

#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
/// Coefficients, from the constant on, of polynomials around the multiples of a half.
using GeluTable = float[7][16];

/// 1 - Phi(a), fitted to its relative error: results are within 1.4e-7 of their magnitude from -2 on, within 5e-9 below.
HWY_ALIGN constexpr GeluTable kBeyondErf = {
    {0.5f, 0.30853754f, 0.15865526f, 0.0668072f, 0.022750132f, 0.006209665f, 0.0013498979f, 0.0002326291f, 3.167126e-05f, 3.3976812e-06f,
     2.8665346e-07f, 1.8989853e-08f, 9.866187e-10f, 4.0162377e-11f, 1.2799444e-12f, 0.0f},
    {-0.3989423f, -0.35206532f, -0.24197075f, -0.12951761f, -0.053990964f, -0.017528294f, -0.0044318466f, -0.0008726831f, -0.00013383066f,
     -1.5983886e-05f, -1.4867477e-06f, -1.0770112e-07f, -6.0761765e-09f, -2.669719e-10f, -9.135275e-12f, 0.0f},
    {5.8636425e-07f, 0.08801583f, 0.12098506f, 0.09713797f, 0.053991f, 0.02191044f, 0.006647792f, 0.0015271886f, 0.0002676541f,
     3.5960817e-05f, 3.7161815e-06f, 2.9607054e-07f, 1.8216802e-08f, 8.6674046e-10f, 3.192101e-11f, 0.0f},
    {0.06647929f, 0.044007406f, 2.738836e-06f, -0.026980717f, -0.026995849f, -0.015338137f, -0.005909395f, -0.0016362205f, -0.00033450482f,
     -5.125561e-05f, -5.941421e-06f, -5.242529e-07f, -3.5366135e-08f, -1.8298865e-09f, -7.279669e-11f, 0.0f},
    {0.00010196437f, -0.020154165f, -0.020153714f, -0.006064238f, 0.0044976217f, 0.005931643f, 0.0033231922f, 0.001177502f, 0.00029024397f,
     5.1809195e-05f, 6.8406325e-06f, 6.767794e-07f, 5.0600665e-08f, 2.8762668e-09f, 1.248455e-10f, 0.0f},
    {-0.0104655875f, -0.0045526605f, 0.003947979f, 0.00580552f, 0.0022618824f, -0.0006381419f, -0.0010990249f, -0.0005807481f,
     -0.00018435933f, -3.9797636e-05f, -6.1349815e-06f, -6.9254617e-07f, -5.811572e-08f, -3.6610606e-09f, -1.7432024e-10f, 0.0f},
    {0.0012031377f, 0.0028995848f, 0.0019074978f, -0.00070834043f, -0.0013245146f, -0.0004908875f, 0.000114874834f, 0.00017670206f,
     7.97369e-05f, 2.1213593e-05f, 3.7966017e-06f, 4.8067784e-07f, 4.4229925e-08f, 3.0056067e-09f, 1.5246131e-10f, 0.0f}};

/// 1 / (1 + e^2u), u = sqrt(2 / pi) (a + 0.044715 a^3), likewise.
HWY_ALIGN constexpr GeluTable kBeyondTanh = {
    {0.5f, 0.308572f, 0.15880801f, 0.06695228f, 0.022701154f, 0.0060337065f, 0.001212464f, 0.00017605648f, 1.7561511e-05f, 1.1415078e-06f,
     4.5837837e-08f, 1.0779073e-09f, 1.4071507e-11f, 9.666429e-14f, 3.3109554e-16f, 0.0f},
    {-0.3989423f, -0.35188377f, -0.24177212f, -0.12977539f, -0.054400202f, -0.017594108f, -0.0042655417f, -0.0007424859f, -8.8171524e-05f,
     -6.7698293e-06f, -3.1844797e-07f, -8.698475e-09f, -1.307844e-10f, -1.025612e-12f, -3.9714203e-15f, 0.0f},
    {5.900928e-07f, 0.08825891f, 0.12069813f, 0.09668977f, 0.054168824f, 0.022286743f, 0.0067164768f, 0.0014334873f, 0.00020629214f,
     1.897086e-05f, 1.0563772e-06f, 3.376943e-08f, 5.876473e-10f, 5.2780887e-12f, 2.3205523e-14f, 0.0f},
    {0.06680824f, 0.04388409f, -0.00040841813f, -0.026722692f, -0.026607102f, -0.015455508f, -0.0061103203f, -0.0016558376f,
     -0.00029609475f, -3.321836e-05f, -2.2201486e-06f, -8.4015674e-08f, -1.7126132e-09f, -1.7912472e-11f, -9.173446e-14f, 0.0f},
    {0.000104073144f, -0.020455869f, -0.020012595f, -0.005741606f, 0.004301071f, 0.0057433364f, 0.003398364f, 0.0012465483f, 0.0002884525f,
     4.0677518e-05f, 3.3476338e-06f, 1.538281e-07f, 3.7751424e-09f, 4.7290765e-11f, 2.885764e-13f, 0.0f},
    {-0.010707777f, -0.0045219115f, 0.0041985083f, 0.0056664203f, 0.0021135905f, -0.00052514183f, -0.0010462168f, -0.0006140787f,
     -0.00019921898f, -3.712932e-05f, -3.887455e-06f, -2.2064482e-07f, -6.512233e-09f, -9.548801e-11f, -6.624878e-13f, 0.0f},
    {0.0012484618f, 0.0026896333f, 0.0019733366f, -0.00074650865f, -0.0012448126f, -0.000469719f, 6.858224e-05f, 0.00017240697f,
     8.8813205e-05f, 2.2199447e-05f, 2.868354e-06f, 1.902131e-07f, 6.295452e-09f, 1.0016757e-10f, 7.339326e-13f, 0.0f}};

/// max(x, 0) less |x| times the part of the distribution beyond |x|: a polynomial around the nearest multiple of a half, nothing from 7.25
/// on. Of several vectors in steps over all of them.
template <int kVectors>
HWY_INLINE void gelu_by_place(const GeluTable& table, Vec (&x)[kVectors]) {
  const Floats d;
  const Vec shift = set(0x1p23f), most = set(7.5f);
  Vec a[kVectors], shifted[kVectors], t[kVectors], beyond[kVectors];
  const auto for_all = [](auto step) HWY_ATTR {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) step(i);
  };
  // By the last four bits of the sum: twice |x|, rounded.
  const auto of_place = [&](const float* coefficients, int i) HWY_ATTR {
    return Vec{_mm512_permutexvar_ps(hn::BitCast(Ints(), shifted[i]).raw, hn::Load(d, coefficients).raw)};
  };
  for_all([&](int i) HWY_ATTR { a[i] = hn::Min(hn::Abs(x[i]), most); });
  for_all([&](int i) HWY_ATTR { shifted[i] = hn::MulAdd(a[i], set(2.0f), shift); });
  for_all([&](int i) HWY_ATTR { t[i] = hn::MulAdd(hn::Sub(shifted[i], shift), set(-0.5f), a[i]); });
  for_all([&](int i) HWY_ATTR { beyond[i] = of_place(table[6], i); });
#pragma GCC unroll 6
  for (int k = 5; k >= 0; --k) for_all([&](int i) HWY_ATTR { beyond[i] = hn::MulAdd(beyond[i], t[i], of_place(table[k], i)); });
  // Less min(-x, 0), so that nothing is left of negative numbers as -0.
  for_all([&](int i) HWY_ATTR { x[i] = hn::NegMulSub(a[i], beyond[i], hn::Min(hn::Zero(d), hn::Neg(x[i]))); });
}

HWY_INLINE void gelu_erf_loop(const float* x, float* y, int64_t n) {
  map_in_steps(x, y, n, [](auto& v) HWY_ATTR { gelu_by_place(kBeyondErf, v); });
}
HWY_INLINE void gelu_tanh_loop(const float* x, float* y, int64_t n) {
  map_in_steps(x, y, n, [](auto& v) HWY_ATTR { gelu_by_place(kBeyondTanh, v); });
}

#else
/// x times the normal distribution's integral up to x, which is max(x, 0) less |x| times the part beyond |x|: 2^polynomial(|x|) / 2.
HWY_INLINE Vec gelu_erf(Vec x) {
  static constexpr float c[] = {-1.15110421f,     -0.459221452f,  -0.0524347648f,   0.00693111913f, 1.49913994e-05f,
                                -0.000284348032f, 7.4973978e-05f, -9.56026088e-06f, 5.12864062e-07f};
  static constexpr float half_c[] = {0.34657359f, 0.120113239f, 0.0277516618f, 0.00480921846f, 0.00066994375f, 7.6766810e-05f};
  const Vec a = hn::Abs(x), power = hn::Mul(a, short_polynomial(a, hn::Mul(a, a), c));
  // 2^power = 2^n 2^r: the last bits of `shifted` are n, which joins the exponent of 2^r / 2.
  const Vec shift = set(0x1.8p23f), shifted = hn::Add(power, shift), r = hn::Sub(power, hn::Sub(shifted, shift));
  const Vec r_square = hn::Mul(r, r);
  const Vec top = hn::MulAdd(hn::MulAdd(set(half_c[5]), r, set(half_c[4])), r_square, hn::MulAdd(set(half_c[3]), r, set(half_c[2])));
  const Vec half = hn::MulAdd(hn::MulAdd(top, r_square, hn::MulAdd(set(half_c[1]), r, set(half_c[0]))), r, set(0.5f));
  const Vec beyond = hn::BitCast(Floats(), hn::Add(hn::BitCast(Ints(), half), hn::ShiftLeft<23>(hn::BitCast(Ints(), shifted))));
  const Vec positive = hn::Max(hn::Zero(Floats()), x);
  return hn::IfThenElse(hn::Gt(a, set(7.0f)), hn::CopySign(positive, x), hn::NegMulAdd(a, beyond, positive));
}

/// x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3).
HWY_INLINE Vec gelu_tanh(Vec x) {
  const Vec doubled = hn::Mul(x, hn::MulAdd(hn::Mul(x, x), set(-0.0713548163f), set(-1.59576912f)));
  const Vec one = set(1.0f), share = hn::Div(one, hn::Add(one, exp_within(hn::Max(doubled, set(-87.0f)))));
  return hn::Mul(x, hn::IfThenElse(hn::Gt(doubled, set(88.0f)), hn::Zero(Floats()), share));
}

HWY_INLINE void gelu_erf_loop(const float* x, float* y, int64_t n) {
  map(x, y, n, [](Vec v) HWY_ATTR { return gelu_erf(v); });
}
HWY_INLINE void gelu_tanh_loop(const float* x, float* y, int64_t n) {
  map(x, y, n, [](Vec v) HWY_ATTR { return gelu_tanh(v); });
}
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#endif  // RH_COMPUTE_GELU_INL_H
