#include "compute/quant/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/quant/quantize.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/quant/quantize_blocks-inl.h"
#include "compute/simd/simd_math-inl.h"

#ifndef RH_COMPUTE_QUANTIZE_ELEMENT
#define RH_COMPUTE_QUANTIZE_ELEMENT
namespace rh::compute {
/// The element types, so that one function a target serves them all.
enum class QuantElement { uint8, int8, uint16, int16 };
}  // namespace rh::compute
#endif

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

template <typename F>
HWY_INLINE void with_element(QuantElement element, F f) {
  switch (element) {
    case QuantElement::uint8: return f(uint8_t());
    case QuantElement::int8: return f(int8_t());
    case QuantElement::uint16: return f(uint16_t());
    case QuantElement::int16: return f(int16_t());
  }
}

/// Calls block(i) for each whole vector of [0, count), then tail(i, rest).
template <typename Block, typename Tail>
HWY_INLINE void for_vectors(int64_t count, Block block, Tail tail) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) block(i);
  if (i < count) tail(i, static_cast<size_t>(count - i));
}

using Words = hn::RebindToUnsigned<Floats>;

/// Floats as quantised values, in the low bits of words; bounds are without the zero point.
struct Rounder {
  explicit Rounder(const QuantRange& range)
      : low(set(static_cast<float>(range.low - range.zero_point))),
        high(set(static_cast<float>(range.high - range.zero_point))),
        shift(set(0x1.8p23f)),
        zero_point(hn::Set(Words(), static_cast<uint32_t>(range.zero_point))) {}

  HWY_INLINE hn::Vec<Words> operator()(Vec v) const {
    const Vec within = hn::Min(hn::Max(v, low), high);  // Max of NaN and low is low
    // The sum's last bits are the nearest whole number.
    return hn::Add(hn::BitCast(Words(), hn::Add(within, shift)), zero_point);
  }

  Vec low, high, shift;
  hn::Vec<Words> zero_point;
};

template <typename T>
HWY_INLINE void store_narrow(hn::Vec<Words> v, T* y) {
  using Narrow = std::make_unsigned_t<T>;
  const hn::Rebind<Narrow, Words> d;
  hn::StoreU(hn::TruncateTo(d, v), d, reinterpret_cast<Narrow*>(y));
}

template <typename T>
HWY_INLINE void store_narrow_some(hn::Vec<Words> v, T* y, size_t count) {
  T buffer[hn::MaxLanes(Words())];
  store_narrow(v, buffer);
  std::memcpy(y, buffer, count * sizeof(T));
}

/// y = round(value(i) / scale) of vectors that begin at i; some(i, rest) are the last elements, fewer than a vector. `done` of the first
/// ones are there already.
template <typename T, typename Value, typename Some>
HWY_INLINE void quantize_values(float scale, const QuantRange& range, T* y, int64_t count, Value value, Some some, int64_t done = 0) {
  const Rounder round(range);
  const Vec divisor = set(scale);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = done > 0 ? done : quantize_blocks(scale, range, y, count, value);
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const Vec v0 = hn::Div(value(i), divisor), v1 = hn::Div(value(i + lanes), divisor);
    const Vec v2 = hn::Div(value(i + 2 * lanes), divisor), v3 = hn::Div(value(i + 3 * lanes), divisor);
    store_narrow(round(v0), y + i);
    store_narrow(round(v1), y + i + lanes);
    store_narrow(round(v2), y + i + 2 * lanes);
    store_narrow(round(v3), y + i + 3 * lanes);
  }
  for (; i + lanes <= count; i += lanes) store_narrow(round(hn::Div(value(i), divisor)), y + i);
  const auto rest = static_cast<size_t>(count - i);
  if (rest > 0) store_narrow_some(round(hn::Div(some(i, rest), divisor)), y + i, rest);
}

void quantize_loop(const float* x, float scale, QuantRange range, QuantElement element, void* out, int64_t count) {
  with_element(element, [&](auto type) HWY_ATTR {
    quantize_values(
        scale, range, static_cast<decltype(type)*>(out), count, [=](int64_t i) HWY_ATTR { return hn::LoadU(Floats(), x + i); },
        [=](int64_t i, size_t rest) HWY_ATTR { return load_some(x + i, rest); });
  });
}

/// kLeft and kRight: whether the operand is one element for all.
template <bool kMultiplies, bool kLeft, bool kRight, typename T>
HWY_INLINE void quantized_binary_row(const QuantOperand<T>& a, const QuantOperand<T>& b, float scale, const QuantRange& range, T* y,
                                     int64_t count) {
  const hn::Rebind<T, Ints> d;
  const hn::Vec<Ints> a_zero = hn::Set(Ints(), a.zero_point), b_zero = hn::Set(Ints(), b.zero_point);
  const Vec a_scale = set(a.scale), b_scale = set(b.scale);
  const auto one = [](const QuantOperand<T>& x) HWY_ATTR { return set(static_cast<float>(*x.data - x.zero_point) * x.scale); };
  const Vec a_one = one(a), b_one = one(b);
  const auto result = [=](const T* left, const T* right) HWY_ATTR {
    Vec u = a_one, v = b_one;
    if constexpr (!kLeft) u = hn::Mul(hn::ConvertTo(Floats(), hn::Sub(hn::PromoteTo(Ints(), hn::LoadU(d, left)), a_zero)), a_scale);
    if constexpr (!kRight) v = hn::Mul(hn::ConvertTo(Floats(), hn::Sub(hn::PromoteTo(Ints(), hn::LoadU(d, right)), b_zero)), b_scale);
    return kMultiplies ? hn::Mul(u, v) : hn::Add(u, v);
  };
  const T *left_data = a.data, *right_data = b.data;
  const auto at = [=](int64_t i) HWY_ATTR { return result(left_data + i, right_data + i); };
  int64_t done = 0;
  if constexpr (!kMultiplies && !kLeft && !kRight) done = quantize_sums(a, b, scale, range, y, count, at);
  quantize_values(
      scale, range, y, count, at,
      [=](int64_t i, size_t rest) HWY_ATTR {
        T left[hn::MaxLanes(Ints())] = {}, right[hn::MaxLanes(Ints())] = {};
        if (!kLeft) std::memcpy(left, left_data + i, rest * sizeof(T));
        if (!kRight) std::memcpy(right, right_data + i, rest * sizeof(T));
        return result(left, right);
      },
      done);
}

template <bool kMultiplies, typename T>
HWY_INLINE void quantized_binary_rows(const QuantOperand<T>& a, const QuantOperand<T>& b, float scale, const QuantRange& range, T* y,
                                      int64_t count) {
  if (count <= 0) return;
  if (a.step == 0 && b.step == 0) return quantized_binary_row<kMultiplies, true, true>(a, b, scale, range, y, count);
  if (a.step == 0) return quantized_binary_row<kMultiplies, true, false>(a, b, scale, range, y, count);
  if (b.step == 0) return quantized_binary_row<kMultiplies, false, true>(a, b, scale, range, y, count);
  quantized_binary_row<kMultiplies, false, false>(a, b, scale, range, y, count);
}

void quantized_binary_loop(bool multiplies, const QuantOperand<uint8_t>& a, const QuantOperand<uint8_t>& b, float scale,
                           const QuantRange& range, uint8_t* y, int64_t count) {
  multiplies ? quantized_binary_rows<true>(a, b, scale, range, y, count) : quantized_binary_rows<false>(a, b, scale, range, y, count);
}
void quantized_binary_signed_loop(bool multiplies, const QuantOperand<int8_t>& a, const QuantOperand<int8_t>& b, float scale,
                                  const QuantRange& range, int8_t* y, int64_t count) {
  multiplies ? quantized_binary_rows<true>(a, b, scale, range, y, count) : quantized_binary_rows<false>(a, b, scale, range, y, count);
}

void dequantize_loop(const void* in, QuantElement element, float scale, int32_t zero_point, float* y, int64_t count) {
  const Vec factor = set(scale);
  const hn::Vec<Ints> zero = hn::Set(Ints(), zero_point);
  with_element(element, [=](auto type) HWY_ATTR {
    using T = decltype(type);
    const T* x = static_cast<const T*>(in);
    const hn::Rebind<T, Ints> d;
    const auto widened = [=](const T* from) HWY_ATTR {
      return hn::Mul(hn::ConvertTo(Floats(), hn::Sub(hn::PromoteTo(Ints(), hn::LoadU(d, from)), zero)), factor);
    };
    for_vectors(
        count, [=](int64_t i) HWY_ATTR { hn::StoreU(widened(x + i), Floats(), y + i); },
        [=](int64_t i, size_t rest) HWY_ATTR {
          T buffer[hn::MaxLanes(Ints())] = {};
          std::memcpy(buffer, x + i, rest * sizeof(T));
          store_some(widened(buffer), y + i, rest);
        });
  });
}

void requantize_loop(const int32_t* x, const float* scales, bool per_element, QuantRange range, QuantElement element, void* out,
                     int64_t count) {
  const Rounder round(range);
  const Vec one_scale = set(scales[0]);
  with_element(element, [=](auto type) HWY_ATTR {
    auto* y = static_cast<decltype(type)*>(out);
    const auto scaled = [=](const int32_t* from, Vec scale)
                            HWY_ATTR { return round(hn::Mul(hn::ConvertTo(Floats(), hn::LoadU(Ints(), from)), scale)); };
    for_vectors(
        count, [=](int64_t i) HWY_ATTR { store_narrow(scaled(x + i, per_element ? hn::LoadU(Floats(), scales + i) : one_scale), y + i); },
        [=](int64_t i, size_t rest) HWY_ATTR {
          int32_t buffer[hn::MaxLanes(Ints())] = {};
          std::memcpy(buffer, x + i, rest * sizeof(int32_t));
          store_narrow_some(scaled(buffer, per_element ? load_some(scales + i, rest) : one_scale), y + i, rest);
        });
  });
}

/// The last columns of a matrix, fewer than a vector.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE void requantize_last_columns(const Rounder& round, const int32_t* x, int64_t x_stride, const float* scales, uint8_t* y,
                                        int64_t y_stride, int64_t rows, size_t count) {
  const __mmask16 live = static_cast<__mmask16>((1u << count) - 1);
  const __m512 scale = _mm512_maskz_loadu_ps(live, scales);
  for (int64_t r = 0; r < rows; ++r) {
    const __m512 sums = _mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(live, x + r * x_stride));
    _mm_mask_storeu_epi8(y + r * y_stride, live, _mm512_cvtepi32_epi8(round(Vec{_mm512_mul_ps(sums, scale)}).raw));
  }
}
#else
HWY_INLINE void requantize_last_columns(const Rounder& round, const int32_t* x, int64_t x_stride, const float* scales, uint8_t* y,
                                        int64_t y_stride, int64_t rows, size_t count) {
  const Vec scale = load_some(scales, count);
  for (int64_t r = 0; r < rows; ++r) {
    int32_t sums[hn::MaxLanes(Ints())] = {};
    std::memcpy(sums, x + r * x_stride, count * sizeof(int32_t));
    store_narrow_some(round(hn::Mul(hn::ConvertTo(Floats(), hn::LoadU(Ints(), sums)), scale)), y + r * y_stride, count);
  }
}
#endif

void requantize_rows_loop(const int32_t* x, int64_t x_stride, const float* scales, QuantRange range, uint8_t* y, int64_t y_stride,
                          int64_t rows, int64_t columns) {
  const int64_t done = range.low < 0 ? requantize_blocks<int8_t>(x, x_stride, scales, range, y, y_stride, rows, columns)
                                     : requantize_blocks<uint8_t>(x, x_stride, scales, range, y, y_stride, rows, columns);
  x += done;
  scales += done;
  y += done;
  columns -= done;
  const Rounder round(range);
  const Floats d;
  for_vectors(
      columns,
      [=](int64_t i) HWY_ATTR {
        const Vec scale = hn::LoadU(d, scales + i);
        for (int64_t r = 0; r < rows; ++r) {
          store_narrow(round(hn::Mul(hn::ConvertTo(d, hn::LoadU(Ints(), x + r * x_stride + i)), scale)), y + r * y_stride + i);
        }
      },
      [=](int64_t i, size_t rest) HWY_ATTR { requantize_last_columns(round, x + i, x_stride, scales + i, y + i, y_stride, rows, rest); });
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// The entries of words that are below 256, in their lower bytes: the table's words are found by 7 bits, their bytes by the last one.
HWY_INLINE __m512i look_up_words(const __m512i (&table)[4], __m512i x) {
  const __m512i place = _mm512_srli_epi16(x, 1);
  const __m512i low = _mm512_permutex2var_epi16(table[0], place, table[1]), high = _mm512_permutex2var_epi16(table[2], place, table[3]);
  const __m512i word = _mm512_mask_mov_epi16(low, _mm512_test_epi16_mask(x, _mm512_set1_epi16(0x80)), high);
  return _mm512_srlv_epi16(word, _mm512_slli_epi16(_mm512_and_si512(x, _mm512_set1_epi16(1)), 3));
}

/// The first elements, 64 at a time; how many were taken.
HWY_INLINE int64_t look_up_blocks(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t count) {
  constexpr __mmask64 kOdd = 0xaaaaaaaaaaaaaaaa;
  __m512i parts[4];
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) parts[k] = _mm512_loadu_si512(table + 64 * k);
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    const __m512i v = _mm512_loadu_si512(x + i);
    const __m512i even = look_up_words(parts, _mm512_and_si512(v, _mm512_set1_epi16(0xff)));
    const __m512i odd = look_up_words(parts, _mm512_srli_epi16(v, 8));
    _mm512_storeu_si512(y + i, _mm512_mask_mov_epi8(even, kOdd, _mm512_slli_epi16(odd, 8)));
  }
  return i;
}
#else
HWY_INLINE int64_t look_up_blocks(const uint8_t*, const uint8_t*, uint8_t*, int64_t) { return 0; }
#endif

/// Sums of columns of bytes, which flipping makes unsigned, modulo 2^32: by four vectors, one, and singly.
void sum_columns_loop(const uint8_t* x, uint8_t flip, int64_t stride, int64_t rows, int64_t columns, uint32_t* sums) {
  const hn::Rebind<uint8_t, Words> d;
  const auto flips = hn::Set(d, flip);
  const Words words;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(words));
  const auto at = [=](const uint8_t* p) HWY_ATTR { return hn::PromoteTo(words, hn::Xor(hn::LoadU(d, p), flips)); };
  int64_t i = 0;
  for (; i + 4 * lanes <= columns; i += 4 * lanes) {
    auto s0 = hn::Zero(words), s1 = s0, s2 = s0, s3 = s0;
    for (int64_t r = 0; r < rows; ++r) {
      const uint8_t* row = x + r * stride + i;
      s0 = hn::Add(s0, at(row));
      s1 = hn::Add(s1, at(row + lanes));
      s2 = hn::Add(s2, at(row + 2 * lanes));
      s3 = hn::Add(s3, at(row + 3 * lanes));
    }
    hn::StoreU(s0, words, sums + i);
    hn::StoreU(s1, words, sums + i + lanes);
    hn::StoreU(s2, words, sums + i + 2 * lanes);
    hn::StoreU(s3, words, sums + i + 3 * lanes);
  }
  for (; i + lanes <= columns; i += lanes) {
    auto sum = hn::Zero(words);
    for (int64_t r = 0; r < rows; ++r) sum = hn::Add(sum, at(x + r * stride + i));
    hn::StoreU(sum, words, sums + i);
  }
  for (; i < columns; ++i) {
    sums[i] = 0;
    for (int64_t r = 0; r < rows; ++r) sums[i] += static_cast<uint8_t>(x[r * stride + i] ^ flip);
  }
}

void look_up_loop(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t count) {
  int64_t i = look_up_blocks(table, x, y, count);
#if HWY_TARGET != HWY_SCALAR  // which has no blocks of 16 bytes
  const hn::ScalableTag<uint8_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto sixteen = hn::Set(d, 16), bias = hn::Set(d, 0x70);
  for (; i + lanes <= count; i += lanes) {
    auto rest = hn::LoadU(d, x + i), found = hn::Zero(d);
    for (int part = 0; part < 256; part += 16) {
      // Below 16 as it is, else with the highest bit, which finds 0.
      const auto index = hn::Xor(hn::SaturatedAdd(rest, bias), bias);
      found = hn::Or(found, hn::TableLookupBytesOr0(hn::LoadDup128(d, table + part), index));
      rest = hn::Sub(rest, sixteen);
    }
    hn::StoreU(found, d, y + i);
  }
#endif
  for (; i < count; ++i) y[i] = table[x[i]];
}

/// The sum of the elements as uint8 with their bits in `flipped` flipped.
uint64_t sum_bytes_loop(const uint8_t* x, uint8_t flipped, int64_t count) {
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> wide;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto flip = hn::Set(d, flipped);
  auto sum0 = hn::Zero(wide), sum1 = sum0;
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    sum0 = hn::Add(sum0, hn::SumsOf8(hn::Xor(hn::LoadU(d, x + i), flip)));
    sum1 = hn::Add(sum1, hn::SumsOf8(hn::Xor(hn::LoadU(d, x + i + lanes), flip)));
  }
  uint64_t sum = hn::GetLane(hn::SumOfLanes(wide, hn::Add(sum0, sum1)));
  for (; i < count; ++i) sum += static_cast<uint64_t>(x[i] ^ flipped);
  return sum;
}

void scale_sums_loop(const int32_t* x, const float* scales, const float* shifts, float* y, int64_t count) {
  const Floats d;
  for_vectors(
      count,
      [=](int64_t i) HWY_ATTR {
        const Vec product = hn::Mul(hn::ConvertTo(d, hn::LoadU(Ints(), x + i)), hn::LoadU(d, scales + i));
        hn::StoreU(hn::Add(product, hn::LoadU(d, shifts + i)), d, y + i);
      },
      [=](int64_t i, size_t rest) HWY_ATTR {
        for (size_t k = 0; k < rest; ++k) y[i + k] = static_cast<float>(x[i + k]) * scales[i + k] + shifts[i + k];
      });
}

MinMax min_max_loop(const float* x, int64_t count) {
  if (count <= 0) return {};
  const float inf = std::numeric_limits<float>::infinity();
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  // Four that do not wait for each other. Min and Max of NaN and a number are the second one.
  Vec low0 = set(inf), low1 = low0, low2 = low0, low3 = low0, high0 = set(-inf), high1 = high0, high2 = high0, high3 = high0;
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const Vec v0 = hn::LoadU(d, x + i), v1 = hn::LoadU(d, x + i + lanes);
    const Vec v2 = hn::LoadU(d, x + i + 2 * lanes), v3 = hn::LoadU(d, x + i + 3 * lanes);
    low0 = hn::Min(v0, low0), high0 = hn::Max(v0, high0);
    low1 = hn::Min(v1, low1), high1 = hn::Max(v1, high1);
    low2 = hn::Min(v2, low2), high2 = hn::Max(v2, high2);
    low3 = hn::Min(v3, low3), high3 = hn::Max(v3, high3);
  }
  for (; i + lanes <= count; i += lanes) {
    const Vec v = hn::LoadU(d, x + i);
    low0 = hn::Min(v, low0), high0 = hn::Max(v, high0);
  }
  const Vec least = hn::Min(hn::Min(low0, low1), hn::Min(low2, low3)), largest = hn::Max(hn::Max(high0, high1), hn::Max(high2, high3));
  MinMax result{hn::GetLane(hn::MinOfLanes(d, least)), hn::GetLane(hn::MaxOfLanes(d, largest))};
  for (; i < count; ++i) {
    if (x[i] < result.low) result.low = x[i];
    if (x[i] > result.high) result.high = x[i];
  }
  return result.low <= result.high ? result : MinMax{};
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(quantize_loop);
HWY_EXPORT(dequantize_loop);
HWY_EXPORT(quantized_binary_loop);
HWY_EXPORT(quantized_binary_signed_loop);
HWY_EXPORT(requantize_loop);
HWY_EXPORT(requantize_rows_loop);
HWY_EXPORT(look_up_loop);
HWY_EXPORT(sum_bytes_loop);
HWY_EXPORT(sum_columns_loop);
HWY_EXPORT(min_max_loop);
HWY_EXPORT(scale_sums_loop);

namespace {

template <typename T>
constexpr QuantElement element_of = std::is_same_v<T, uint8_t>    ? QuantElement::uint8
                                    : std::is_same_v<T, int8_t>   ? QuantElement::int8
                                    : std::is_same_v<T, uint16_t> ? QuantElement::uint16
                                                                  : QuantElement::int16;

}  // namespace

template <typename T>
void quantize(const float* x, float scale, const QuantRange& range, T* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(quantize_loop)(x, scale, range, element_of<T>, y, count);
}

template <typename T>
void dequantize(const T* x, float scale, int32_t zero_point, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(dequantize_loop)(x, element_of<T>, scale, zero_point, y, count);
}

template <>
void quantized_binary(bool multiplies, const QuantOperand<uint8_t>& a, const QuantOperand<uint8_t>& b, float scale, const QuantRange& range,
                      uint8_t* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(quantized_binary_loop)(multiplies, a, b, scale, range, y, count);
}
template <>
void quantized_binary(bool multiplies, const QuantOperand<int8_t>& a, const QuantOperand<int8_t>& b, float scale, const QuantRange& range,
                      int8_t* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(quantized_binary_signed_loop)(multiplies, a, b, scale, range, y, count);
}

template <typename T>
void requantize(const int32_t* x, const float* scales, bool per_element, const QuantRange& range, T* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(requantize_loop)(x, scales, per_element, range, element_of<T>, y, count);
}

void requantize_rows(const int32_t* x, int64_t x_stride, const float* scales, const QuantRange& range, uint8_t* y, int64_t y_stride,
                     int64_t rows, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(requantize_rows_loop)(x, x_stride, scales, range, y, y_stride, rows, columns);
}

void look_up(const uint8_t (&table)[256], const uint8_t* x, uint8_t* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(look_up_loop)(table, x, y, count);
}

template <>
int64_t sum_codes(const uint8_t* x, int64_t count) {
  return static_cast<int64_t>(HWY_DYNAMIC_DISPATCH(sum_bytes_loop)(x, 0, count));
}
template <>
int64_t sum_codes(const int8_t* x, int64_t count) {
  return static_cast<int64_t>(HWY_DYNAMIC_DISPATCH(sum_bytes_loop)(reinterpret_cast<const uint8_t*>(x), 0x80, count)) - 128 * count;
}

template <>
void sum_code_columns(const uint8_t* x, int64_t stride, int64_t rows, int64_t columns, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(sum_columns_loop)(x, 0, stride, rows, columns, reinterpret_cast<uint32_t*>(sums));
}
template <>
void sum_code_columns(const int8_t* x, int64_t stride, int64_t rows, int64_t columns, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(sum_columns_loop)(reinterpret_cast<const uint8_t*>(x), 0x80, stride, rows, columns,
                                         reinterpret_cast<uint32_t*>(sums));
  const uint32_t shift = 128 * static_cast<uint32_t>(rows);
  for (int64_t i = 0; i < columns; ++i) sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) - shift);
}

void scale_sums(const int32_t* x, const float* scales, const float* shifts, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(scale_sums_loop)(x, scales, shifts, y, count);
}

MinMax min_max(const float* x, int64_t count) { return HWY_DYNAMIC_DISPATCH(min_max_loop)(x, count); }

#define RH_INSTANTIATE(T)                                                      \
  template void quantize(const float*, float, const QuantRange&, T*, int64_t); \
  template void dequantize(const T*, float, int32_t, float*, int64_t);         \
  template void requantize(const int32_t*, const float*, bool, const QuantRange&, T*, int64_t);
RH_INSTANTIATE(uint8_t)
RH_INSTANTIATE(int8_t)
RH_INSTANTIATE(uint16_t)
RH_INSTANTIATE(int16_t)
#undef RH_INSTANTIATE

}  // namespace rh::compute
#endif
