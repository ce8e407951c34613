#include "compute/elementwise/vector_math.h"

#include <algorithm>

#include "compute/elementwise/activation.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/vector_math.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/gelu-inl.h"
#include "compute/simd/simd_double-inl.h"
#include "compute/simd/vector_ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// x tanh(log(1 + e^x)) = x n / (n + 2), n = e^x (e^x + 2).
HWY_INLINE Vec mish(Vec x) {
  const Vec e = simd_exp(hn::Min(x, set(20.0f))), n = hn::Mul(e, hn::Add(e, set(2.0f)));
  return keep_nan(x, hn::Mul(x, hn::Div(n, hn::Add(n, set(2.0f)))));
}

void unary_loop(Unary op, const float* x, float* y, int64_t n) {
  switch (op) {
    case Unary::exp: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_exp(v); });
    case Unary::log: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_log(v); });
    case Unary::sinh: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_sinh(v); });
    case Unary::cosh: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_cosh(v); });
    case Unary::tanh: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_tanh(v); });
    case Unary::erf: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_erf(v); });
    case Unary::sigmoid: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_sigmoid(v); });
    case Unary::sin: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_trigonometric<Trigonometric::sin>(v); });
    case Unary::cos: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_trigonometric<Trigonometric::cos>(v); });
    case Unary::tan: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_trigonometric<Trigonometric::tan>(v); });
    case Unary::atan: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_atan(v); });
    case Unary::asin: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_asin(v); });
    case Unary::acos: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_acos(v); });
    case Unary::asinh: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_inverse<InverseHyperbolic::asinh>(v); });
    case Unary::acosh: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_inverse<InverseHyperbolic::acosh>(v); });
    case Unary::atanh: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_inverse<InverseHyperbolic::atanh>(v); });
    case Unary::sign: return map(x, y, n, [](Vec v) HWY_ATTR { return sign(v); });
    case Unary::neg: return map(x, y, n, [](Vec v) HWY_ATTR { return hn::Neg(v); });
    case Unary::abs: return map(x, y, n, [](Vec v) HWY_ATTR { return hn::Abs(v); });
    case Unary::sqrt: return map(x, y, n, [](Vec v) HWY_ATTR { return hn::Sqrt(v); });
    case Unary::reciprocal: return map(x, y, n, [](Vec v) HWY_ATTR { return reciprocal(v); });
    case Unary::floor: return map(x, y, n, [](Vec v) HWY_ATTR { return hn::Floor(v); });
    case Unary::ceil: return map(x, y, n, [](Vec v) HWY_ATTR { return hn::Ceil(v); });
    case Unary::round: return map(x, y, n, [](Vec v) HWY_ATTR { return hn::Round(v); });
    case Unary::square: return map(x, y, n, [](Vec v) HWY_ATTR { return hn::Mul(v, v); });
    case Unary::relu: return map(x, y, n, [](Vec v) HWY_ATTR { return relu(v); });
    case Unary::hard_swish: return map(x, y, n, [](Vec v) HWY_ATTR { return hard_swish(v); });
    case Unary::softplus: return map(x, y, n, [](Vec v) HWY_ATTR { return simd_softplus(v); });
    case Unary::softsign: return map(x, y, n, [](Vec v) HWY_ATTR { return softsign(v); });
    case Unary::gelu_erf: return gelu_erf_loop(x, y, n);
    case Unary::gelu_tanh: return gelu_tanh_loop(x, y, n);
    case Unary::silu: return map_in_steps(x, y, n, [](auto& v) HWY_ATTR { simd_silu(v); });
  }
}

/// Calls loop(f) with the function of two vectors that `op` names.
template <typename Loop>
HWY_INLINE void with_binary(Binary op, Loop loop) {
  switch (op) {
    case Binary::add: return loop([](Vec a, Vec b) HWY_ATTR { return applied<Binary::add>(a, b); });
    case Binary::sub: return loop([](Vec a, Vec b) HWY_ATTR { return applied<Binary::sub>(a, b); });
    case Binary::mul: return loop([](Vec a, Vec b) HWY_ATTR { return applied<Binary::mul>(a, b); });
    case Binary::div: return loop([](Vec a, Vec b) HWY_ATTR { return applied<Binary::div>(a, b); });
    case Binary::min: return loop([](Vec a, Vec b) HWY_ATTR { return applied<Binary::min>(a, b); });
    case Binary::max: return loop([](Vec a, Vec b) HWY_ATTR { return applied<Binary::max>(a, b); });
    case Binary::prelu: return loop([](Vec a, Vec b) HWY_ATTR { return applied<Binary::prelu>(a, b); });
  }
}

void binary_loop(Binary op, const float* a, const float* b, float* y, int64_t n) {
  with_binary(op, [=](auto f) HWY_ATTR { map2(a, b, y, n, f); });
}

void binary_scalar_loop(Binary op, const float* a, float b, float* y, int64_t n) {
  if (op == Binary::div) {
    const Divisor divisor(b);
    return map_in_steps(a, y, n, [&divisor](auto& v) HWY_ATTR { divisor.divide(v); });
  }
  with_binary(op, [=](auto f) HWY_ATTR { map(a, y, n, [f, b](Vec v) HWY_ATTR { return f(v, set(b)); }); });
}

void scalar_binary_loop(Binary op, float a, const float* b, float* y, int64_t n) {
  with_binary(op, [=](auto f) HWY_ATTR { map(b, y, n, [f, a](Vec v) HWY_ATTR { return f(set(a), v); }); });
}

template <typename F>
HWY_INLINE void rows_with_numbers(const float* numbers, int64_t number_row, const float* x, int64_t x_row, float* y, int64_t rows,
                                  int64_t length, F f) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), whole = length / lanes * lanes;
  const size_t left = static_cast<size_t>(length - whole);
  for (int64_t row = 0; row < rows; ++row, numbers += number_row, x += x_row, y += length) {
    const Vec number = set(*numbers);
    for (int64_t i = 0; i < whole; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i), number), d, y + i);
    if (left > 0) store_some(f(load_some(x + whole, left), number), y + whole, left);
  }
}

void binary_rows_loop(Binary op, bool number_first, const float* numbers, int64_t number_row, const float* x, int64_t x_row, float* y,
                      int64_t rows, int64_t length) {
  with_binary(op, [=](auto f) HWY_ATTR {
    if (number_first) {
      rows_with_numbers(numbers, number_row, x, x_row, y, rows, length, [f](Vec v, Vec number) HWY_ATTR { return f(number, v); });
    } else {
      rows_with_numbers(numbers, number_row, x, x_row, y, rows, length, f);
    }
  });
}

void scale_shift_loop(const float* x, float scale, float shift, float* y, int64_t n) {
  map(x, y, n, [=](Vec v) HWY_ATTR { return hn::MulAdd(v, set(scale), set(shift)); });
}

void add_scaled_loop(const float* x, float scale, float* y, int64_t n) {
  map2(x, y, y, n, [=](Vec v, Vec old) HWY_ATTR { return hn::MulAdd(v, set(scale), old); });
}

/// Rows of a vector at least. The last one is whole: what a masked store covers would wait for it.
template <typename D>
HWY_INLINE void add_rows_of(D d, const float* x, int64_t x_row, float* y, int64_t y_row, int64_t rows, int64_t length) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), last = length - lanes;
  for (int64_t row = 0; row < rows; ++row, x += x_row, y += y_row) {
    const auto sum = [&](int64_t i) HWY_ATTR { return hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)); };
    const auto end = sum(last);
    for (int64_t i = 0; i < last; i += lanes) hn::StoreU(sum(i), d, y + i);
    hn::StoreU(end, d, y + last);
  }
}

void add_rows_loop(const float* x, int64_t x_row, float* y, int64_t y_row, int64_t rows, int64_t length) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 4> narrow;
  if (length >= static_cast<int64_t>(hn::Lanes(d))) return add_rows_of(d, x, x_row, y, y_row, rows, length);
  if (length >= static_cast<int64_t>(hn::Lanes(narrow))) return add_rows_of(narrow, x, x_row, y, y_row, rows, length);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < length; ++i) y[row * y_row + i] += x[row * x_row + i];
}

void add_to_silu_rows_loop(const float* x, int64_t x_row, float* y, int64_t y_row, int64_t rows, int64_t length) {
  constexpr int kVectors = 4;
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = 0; row < rows; ++row, x += x_row, y += y_row) {
    int64_t i = 0;
    for (; i + kVectors * lanes <= length; i += kVectors * lanes) {
      Vec v[kVectors];
#pragma GCC unroll 4
      for (int k = 0; k < kVectors; ++k) v[k] = hn::LoadU(d, y + i + k * lanes);
      simd_silu(v);
#pragma GCC unroll 4
      for (int k = 0; k < kVectors; ++k) hn::StoreU(hn::Add(v[k], hn::LoadU(d, x + i + k * lanes)), d, y + i + k * lanes);
    }
    map2(y + i, x + i, y + i, length - i, [](Vec v, Vec added) HWY_ATTR {
      Vec one[1] = {v};
      simd_silu(one);
      return hn::Add(one[0], added);
    });
  }
}

void scale_rows_loop(const float* x, int64_t x_row, const float* factors, float* y, int64_t y_row, int64_t rows, int64_t length) {
  for (int64_t row = 0; row < rows; ++row, x += x_row, y += y_row) {
    const Vec factor = set(factors[row]);
    map(x, y, length, [factor](Vec v) HWY_ATTR { return hn::Mul(v, factor); });
  }
}

void scale_columns_loop(const float* x, const float* factors, float* y, int64_t rows, int64_t length) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = 0; row < rows; ++row, x += length, y += length) {
    int64_t i = 0;
    for (; i + lanes <= length; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, factors + i)), d, y + i);
    for (; i < length; ++i) y[i] = x[i] * factors[i];
  }
}

void fill_rows_loop(const float* numbers, float* y, int64_t rows, int64_t length) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t row = 0;
  if (length <= lanes) {
    // Whole vectors, of which the next rows replace what is behind the row.
    for (const int64_t whole = rows - (lanes - 1) / length; row < whole; ++row, y += length) hn::StoreU(set(numbers[row]), d, y);
  }
  for (; row < rows; ++row, y += length) {
    const Vec number = set(numbers[row]);
    map(y, y, length, [number](Vec) HWY_ATTR { return number; });
  }
}

void scale_shift_rows_loop(const float* x, const float* scale, const float* shift, float* y, int64_t rows, int64_t length) {
  for (int64_t row = 0; row < rows; ++row, x += length, y += length) {
    const Vec a = set(scale[row]), b = set(shift[row]);
    map(x, y, length, [a, b](Vec v) HWY_ATTR { return hn::MulAdd(v, a, b); });
  }
}

void scale_shift_columns_loop(const float* x, const float* scale, const float* shift, float* y, int64_t rows, int64_t length) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), whole = length / lanes * lanes;
  const size_t left = static_cast<size_t>(length - whole);
  for (int64_t row = 0; row < rows; ++row, x += length, y += length) {
    for (int64_t i = 0; i < whole; i += lanes)
      hn::StoreU(hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, scale + i), hn::LoadU(d, shift + i)), d, y + i);
    if (left == 0) continue;
    const Vec end = hn::MulAdd(load_some(x + whole, left), load_some(scale + whole, left), load_some(shift + whole, left));
    store_some(end, y + whole, left);
  }
}

void prelu_columns_loop(const float* slopes, float* y, int64_t rows, int64_t length, int64_t stride) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < length; i += lanes) {
    const size_t left = static_cast<size_t>(std::min(lanes, length - i));
    const Vec slope = load_some(slopes + i, left);
    float* at = y + i;
    const bool whole = i + lanes <= stride;  // a row of one may be all that there is
    for (int64_t row = 0; row < rows; ++row, at += stride) {
      if (whole)
        hn::StoreU(applied<Binary::prelu>(hn::LoadU(d, at), slope), d, at);
      else
        store_some(applied<Binary::prelu>(load_some(at, left), slope), at, left);
    }
  }
}

void relu_scaled_rows_loop(const float* x, int64_t x_row, const float* scale, const float* shift, float* y, int64_t y_row, int64_t rows,
                           int64_t length) {
  for (int64_t row = 0; row < rows; ++row, x += x_row, y += y_row) {
    const Vec a = set(scale[row]), b = set(shift[row]);
    map(x, y, length, [a, b](Vec v) HWY_ATTR { return relu(hn::MulAdd(v, a, b)); });
  }
}

void activate_loop(const Activation& activation, const float* x, float* y, int64_t n) {
  const float a = activation.alpha, b = activation.beta;
  switch (activation.kind) {
    case ActivationKind::leaky_relu: return map(x, y, n, [a](Vec v) HWY_ATTR { return leaky_relu(v, a); });
    case ActivationKind::clip: return map(x, y, n, [a, b](Vec v) HWY_ATTR { return clamped(v, set(a), set(b)); });
    case ActivationKind::hard_sigmoid: return map(x, y, n, [a, b](Vec v) HWY_ATTR { return hard_sigmoid(v, a, b); });
    case ActivationKind::hard_swish_affine:
      return map(x, y, n, [a, b](Vec v) HWY_ATTR { return hn::MulAdd(hard_swish(v), set(a), set(b)); });
    case ActivationKind::scaled_tanh:
      return map(x, y, n, [a, b](Vec v) HWY_ATTR { return hn::Mul(set(a), simd_tanh(hn::Mul(v, set(b)))); });
    case ActivationKind::silu: return map(x, y, n, [a](Vec v) HWY_ATTR { return hn::Mul(v, simd_sigmoid(hn::Mul(v, set(a)))); });
    case ActivationKind::thresholded_relu: return map(x, y, n, [a](Vec v) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(v, set(a)), v); });
    case ActivationKind::shrink:
      return map(x, y, n, [a, b](Vec v) HWY_ATTR {
        const Vec above = hn::IfThenElseZero(hn::Gt(v, set(a)), hn::Sub(v, set(b)));
        return hn::IfThenElse(hn::Lt(v, set(-a)), hn::Add(v, set(b)), above);
      });
    case ActivationKind::elu:
      return map(x, y, n, [a](Vec v) HWY_ATTR {
        const Vec below = hn::Mul(set(a), expm1_of_negative(hn::Min(v, set(0.0f))));
        return hn::IfThenElse(hn::Lt(v, set(0.0f)), below, v);
      });
    case ActivationKind::mish: return map(x, y, n, [](Vec v) HWY_ATTR { return mish(v); });
    default: return;
  }
}

void rotate_halves_loop(const float* x, float* y, int64_t rows, int64_t half) {
  for (int64_t row = 0; row < rows; ++row, x += 2 * half, y += 2 * half) {
    map(x + half, y, half, [](Vec v) HWY_ATTR { return hn::Neg(v); });
    map(x, y + half, half, [](Vec v) HWY_ATTR { return v; });
  }
}

void rotate_loop(const float* a, const float* b, const float* cosines, const float* sines, float* y_a, float* y_b, int64_t count) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vec u = hn::LoadU(d, a + i), v = hn::LoadU(d, b + i), c = hn::LoadU(d, cosines + i), s = hn::LoadU(d, sines + i);
    hn::StoreU(hn::MulSub(c, u, hn::Mul(s, v)), d, y_a + i);
    hn::StoreU(hn::MulAdd(s, u, hn::Mul(c, v)), d, y_b + i);
  }
  const size_t rest = static_cast<size_t>(count - i);
  if (rest == 0) return;
  const Vec u = load_some(a + i, rest), v = load_some(b + i, rest), c = load_some(cosines + i, rest), s = load_some(sines + i, rest);
  store_some(hn::MulSub(c, u, hn::Mul(s, v)), y_a + i, rest);
  store_some(hn::MulAdd(s, u, hn::Mul(c, v)), y_b + i, rest);
}

void rotate_pairs_loop(const float* x, const float* cosines, const float* sines, float* y, int64_t count) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < count; ++i) {
    const float u = x[2 * i], v = x[2 * i + 1];
    y[2 * i] = cosines[i] * u - sines[i] * v;
    y[2 * i + 1] = sines[i] * u + cosines[i] * v;
  }
#else
  const Floats d;
  const Ints di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto lower = hn::IndicesFromVec(d, hn::ShiftRight<1>(hn::Iota(di, 0)));
  const auto upper = hn::IndicesFromVec(d, hn::ShiftRight<1>(hn::Iota(di, static_cast<int32_t>(lanes))));
  const Vec sign = hn::OddEven(set(0.0f), set(-0.0f));
  const auto turn_half = [&](const float* from, Vec c, Vec s, float* to) HWY_ATTR {
    const Vec pairs = hn::LoadU(d, from);
    hn::StoreU(hn::MulAdd(pairs, c, hn::Mul(hn::Shuffle2301(pairs), hn::Xor(s, sign))), d, to);
  };
  const auto turn = [&](const float* from, Vec c, Vec s, float* to) HWY_ATTR {
    turn_half(from, hn::TableLookupLanes(c, lower), hn::TableLookupLanes(s, lower), to);
    turn_half(from + lanes, hn::TableLookupLanes(c, upper), hn::TableLookupLanes(s, upper), to + lanes);
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) turn(x + 2 * i, hn::LoadU(d, cosines + i), hn::LoadU(d, sines + i), y + 2 * i);
  const size_t rest = static_cast<size_t>(count - i);
  if (rest == 0) return;
  HWY_ALIGN float some[2 * HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy_n(x + 2 * i, 2 * rest, some);
  turn(some, load_some(cosines + i, rest), load_some(sines + i, rest), some);
  std::copy_n(some, 2 * rest, y + 2 * i);
#endif
}

void rotate_heads_loop(const RotatedHeads& heads, const float* x, const float* cosines, const float* sines, float* y) {
  const int64_t half = heads.half;
  for (int64_t head = 0; head < heads.count; ++head, x += heads.stride, y += heads.stride) {
    if (heads.interleaved) {
      rotate_pairs_loop(x, cosines, sines, y, half);
    } else {
      rotate_loop(x, x + half, cosines, sines, y, y + half, half);
    }
    if (2 * half < heads.depth) std::copy(x + 2 * half, x + heads.depth, y + 2 * half);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>

namespace rh::compute {

HWY_EXPORT(unary_loop);
HWY_EXPORT(binary_loop);
HWY_EXPORT(binary_scalar_loop);
HWY_EXPORT(scalar_binary_loop);
HWY_EXPORT(binary_rows_loop);
HWY_EXPORT(scale_shift_loop);
HWY_EXPORT(add_scaled_loop);
HWY_EXPORT(add_rows_loop);
HWY_EXPORT(add_to_silu_rows_loop);
HWY_EXPORT(scale_rows_loop);
HWY_EXPORT(scale_columns_loop);
HWY_EXPORT(fill_rows_loop);
HWY_EXPORT(scale_shift_rows_loop);
HWY_EXPORT(scale_shift_columns_loop);
HWY_EXPORT(prelu_columns_loop);
HWY_EXPORT(relu_scaled_rows_loop);
HWY_EXPORT(activate_loop);
HWY_EXPORT(rotate_heads_loop);
HWY_EXPORT(rotate_halves_loop);

void unary(Unary op, const float* x, float* y, int64_t count) { HWY_DYNAMIC_DISPATCH(unary_loop)(op, x, y, count); }
void binary(Binary op, const float* a, const float* b, float* y, int64_t count) { HWY_DYNAMIC_DISPATCH(binary_loop)(op, a, b, y, count); }
void binary_scalar(Binary op, const float* a, float b, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(binary_scalar_loop)(op, a, b, y, count);
}
void scalar_binary(Binary op, float a, const float* b, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(scalar_binary_loop)(op, a, b, y, count);
}
void binary_rows(Binary op, bool number_first, const float* numbers, int64_t number_row, const float* x, int64_t x_row, float* y,
                 int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(binary_rows_loop)(op, number_first, numbers, number_row, x, x_row, y, rows, length);
}
void scale_shift(const float* x, float scale, float shift, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(scale_shift_loop)(x, scale, shift, y, count);
}
void add_scaled(const float* x, float scale, float* y, int64_t count) { HWY_DYNAMIC_DISPATCH(add_scaled_loop)(x, scale, y, count); }

void add_rows(const float* x, int64_t x_row, float* y, int64_t y_row, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(add_rows_loop)(x, x_row, y, y_row, rows, length);
}

void add_to_silu_rows(const float* x, int64_t x_row, float* y, int64_t y_row, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(add_to_silu_rows_loop)(x, x_row, y, y_row, rows, length);
}

void scale_rows(const float* x, int64_t x_row, const float* factors, float* y, int64_t y_row, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(scale_rows_loop)(x, x_row, factors, y, y_row, rows, length);
}

void scale_columns(const float* x, const float* factors, float* y, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(scale_columns_loop)(x, factors, y, rows, length);
}

void fill_rows(const float* numbers, float* y, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(fill_rows_loop)(numbers, y, rows, length);
}

void scale_shift_rows(const float* x, const float* scale, const float* shift, float* y, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(scale_shift_rows_loop)(x, scale, shift, y, rows, length);
}

void scale_shift_columns(const float* x, const float* scale, const float* shift, float* y, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(scale_shift_columns_loop)(x, scale, shift, y, rows, length);
}

void prelu_columns(const float* slopes, float* y, int64_t rows, int64_t length, int64_t stride) {
  HWY_DYNAMIC_DISPATCH(prelu_columns_loop)(slopes, y, rows, length, stride);
}

void relu_scaled_rows(const float* x, int64_t x_row, const float* scale, const float* shift, float* y, int64_t y_row, int64_t rows,
                      int64_t length) {
  HWY_DYNAMIC_DISPATCH(relu_scaled_rows_loop)(x, x_row, scale, shift, y, y_row, rows, length);
}

void rotate_halves(const float* x, float* y, int64_t rows, int64_t half) { HWY_DYNAMIC_DISPATCH(rotate_halves_loop)(x, y, rows, half); }

void rotate_heads(const RotatedHeads& heads, const float* x, const float* cosines, const float* sines, float* y) {
  HWY_DYNAMIC_DISPATCH(rotate_heads_loop)(heads, x, cosines, sines, y);
}

void activate(const Activation& activation, const float* x, float* y, int64_t count) {
  const float a = activation.alpha;
  switch (activation.kind) {
    case ActivationKind::none:
      if (x != y) std::memcpy(y, x, static_cast<size_t>(count) * sizeof(float));
      return;
    case ActivationKind::relu: return unary(Unary::relu, x, y, count);
    case ActivationKind::hard_swish: return unary(Unary::hard_swish, x, y, count);
    case ActivationKind::sigmoid: return unary(Unary::sigmoid, x, y, count);
    case ActivationKind::tanh: return unary(Unary::tanh, x, y, count);
    case ActivationKind::affine: return scale_shift(x, a, activation.beta, y, count);
    case ActivationKind::softsign: return unary(Unary::softsign, x, y, count);
    case ActivationKind::softplus: return unary(Unary::softplus, x, y, count);
    case ActivationKind::gelu_erf: return unary(Unary::gelu_erf, x, y, count);
    case ActivationKind::gelu_tanh: return unary(Unary::gelu_tanh, x, y, count);
    case ActivationKind::silu:
      if (a == 1) return unary(Unary::silu, x, y, count);
      [[fallthrough]];
    default: return HWY_DYNAMIC_DISPATCH(activate_loop)(activation, x, y, count);
  }
}

}  // namespace rh::compute
#endif
