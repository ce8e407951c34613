#include "compute/reduce/row_math.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/reduce/row_math.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

constexpr float kLargestExponent = 11;  // of exp2_rows

/// Folds `count` floats with several chains: step(accumulator, v) for vectors, join(a, b) for accumulators. Lanes beyond the end hold
/// `rest`.
template <typename Step, typename Join>
HWY_INLINE Vec fold(const float* x, int64_t count, Vec start, float rest, Step step, Join join) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vec a0 = start, a1 = start, a2 = start, a3 = start;
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a0 = step(a0, hn::LoadU(d, x + i));
    a1 = step(a1, hn::LoadU(d, x + i + lanes));
    a2 = step(a2, hn::LoadU(d, x + i + 2 * lanes));
    a3 = step(a3, hn::LoadU(d, x + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) a0 = step(a0, hn::LoadU(d, x + i));
  if (i < count) {
    const size_t live = static_cast<size_t>(count - i);
    a1 = step(a1, hn::IfThenElse(hn::FirstN(d, live), load_some(x + i, live), set(rest)));
  }
  return join(join(a0, a1), join(a2, a3));
}

#if HWY_TARGET == HWY_EMU128
// Highway's emulated MaxOfLanes and MinOfLanes start from the largest finite values: infinities would be lost.
template <typename Better>
HWY_INLINE float best_lane(Vec v, Better better) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, Floats(), lanes);
  for (size_t i = 1; i < hn::Lanes(Floats()); ++i)
    if (better(lanes[i], lanes[0])) lanes[0] = lanes[i];
  return lanes[0];
}
HWY_INLINE float largest_lane(Vec v) {
  return best_lane(v, [](float a, float b) { return a > b; });
}
HWY_INLINE float least_lane(Vec v) {
  return best_lane(v, [](float a, float b) { return a < b; });
}
#else
HWY_INLINE float largest_lane(Vec v) { return hn::GetLane(hn::MaxOfLanes(Floats(), v)); }
HWY_INLINE float least_lane(Vec v) { return hn::GetLane(hn::MinOfLanes(Floats(), v)); }
#endif

HWY_INLINE float total(Vec v) { return hn::GetLane(hn::SumOfLanes(Floats(), v)); }

/// The sum of step(0, x) over a row, long ones in blocks, so that what is added stays small beside what it is added to.
template <typename Step>
HWY_INLINE float sum_in_blocks(const float* x, int64_t count, Step step) {
  constexpr int64_t kBlock = 16384;
  const auto add = [](Vec a, Vec v) HWY_ATTR { return hn::Add(a, v); };
  const auto sum = [&](int64_t at, int64_t some) HWY_ATTR { return total(fold(x + at, some, set(0.0f), 0.0f, step, add)); };
  if (count <= kBlock) return sum(0, count);
  double all = 0;
  for (int64_t at = 0; at < count; at += kBlock) all += static_cast<double>(sum(at, HWY_MIN(kBlock, count - at)));
  return static_cast<float>(all);
}

HWY_INLINE float row_sum(const float* x, int64_t count) {
  return sum_in_blocks(x, count, [](Vec a, Vec v) HWY_ATTR { return hn::Add(a, v); });
}

/// The best value by `better`, hn::Max or hn::Min, to which `least` gives way; NaN if there is one.
template <typename Better, typename Lane>
HWY_INLINE float row_best(const float* x, int64_t count, float least, Better better, Lane best_lane) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), four = 4 * lanes, whole = count / four * four;
  Vec a0 = set(least), a1 = a0, a2 = a0, a3 = a0;
  Mask numbers = hn::Eq(a0, a0);
  for (int64_t i = 0; i < whole; i += four) {
    const Vec v0 = hn::LoadU(d, x + i), v1 = hn::LoadU(d, x + i + lanes), v2 = hn::LoadU(d, x + i + 2 * lanes),
              v3 = hn::LoadU(d, x + i + 3 * lanes);
    const Mask two = hn::And(hn::Eq(v0, v0), hn::Eq(v1, v1)), others = hn::And(hn::Eq(v2, v2), hn::Eq(v3, v3));
    numbers = hn::And(numbers, hn::And(two, others));
    a0 = better(a0, v0);
    a1 = better(a1, v1);
    a2 = better(a2, v2);
    a3 = better(a3, v3);
  }
  const auto step = [&](Vec a, Vec v) HWY_ATTR {
    numbers = hn::And(numbers, hn::Eq(v, v));
    return better(a, v);
  };
  const Vec best = fold(x + whole, count - whole, better(better(a0, a1), better(a2, a3)), least, step, better);
  return hn::AllTrue(d, numbers) ? best_lane(best) : hn::GetLane(hn::NaN(d));
}

/// Largest value, NaN if there is one.
HWY_INLINE float row_max(const float* x, int64_t count) {
  return row_best(x, count, -hwy::HighestValue<float>() * 2, [](Vec a, Vec v) HWY_ATTR { return hn::Max(a, v); }, largest_lane);
}

HWY_INLINE float row_min(const float* x, int64_t count) {
  return row_best(x, count, hwy::HighestValue<float>() * 2, [](Vec a, Vec v) HWY_ATTR { return hn::Min(a, v); }, least_lane);
}

/// The largest value for those who meet the NaN later anyway: it may be overlooked.
HWY_INLINE float row_max_of_numbers(const float* x, int64_t count) {
  const auto larger = [](Vec a, Vec v) HWY_ATTR { return hn::Max(a, v); };
  const Vec low = hn::Neg(hn::Inf(Floats()));
  return largest_lane(fold(x, count, low, -hwy::HighestValue<float>() * 2, larger, larger));
}

/// y = e^(x - shift), where no x is above it, and its sum.
HWY_INLINE float exp_and_sum(const float* x, float shift, float* y, int64_t count) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Vec less = set(shift);
  Vec sum0 = set(0.0f), sum1 = set(0.0f);
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const Vec e0 = exp_of_negative(hn::Sub(hn::LoadU(d, x + i), less)), e1 = exp_of_negative(hn::Sub(hn::LoadU(d, x + i + lanes), less));
    hn::StoreU(e0, d, y + i);
    hn::StoreU(e1, d, y + i + lanes);
    sum0 = hn::Add(sum0, e0);
    sum1 = hn::Add(sum1, e1);
  }
  for (; i < count; i += lanes) {
    const size_t live = static_cast<size_t>(HWY_MIN(lanes, count - i));
    const Vec e = exp_of_negative(hn::Sub(load_some(x + i, live), less));
    store_some(e, y + i, live);
    sum0 = hn::Add(sum0, hn::IfThenElseZero(hn::FirstN(d, live), e));
  }
  return total(hn::Add(sum0, sum1));
}

/// sums[r] = the sum of the lanes of v[r].
template <int kRows>
HWY_INLINE void sum_lanes(const Vec (&v)[kRows], float* sums) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kRows == 4) {
    const Floats d;
    const hn::Repartition<uint64_t, Floats> pairs;
    const auto a = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1])));
    const auto b = hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3])));
    HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];  // groups of four: one of each row
    hn::Store(hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)), hn::BitCast(d, hn::InterleaveUpper(pairs, a, b))), d, lanes);
    const hn::FixedTag<float, kRows> rows;
    auto sum = hn::Load(rows, lanes);
    for (size_t i = kRows; i < hn::Lanes(d); i += kRows) sum = hn::Add(sum, hn::Load(rows, lanes + i));
    hn::StoreU(sum, rows, sums);
    return;
  }
#endif
  for (int r = 0; r < kRows; ++r) sums[r] = total(v[r]);
}

template <int kRows>
HWY_INLINE void exp2_some_rows(float* x, int64_t stride, int64_t length, float factor, float* shifts, float* sums) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), whole = length / lanes * lanes;
  const size_t rest = static_cast<size_t>(length - whole);
  const Vec low = hn::Neg(hn::Inf(d)), scale = set(factor), least = set(-127 / factor);
  Vec most[kRows], shift[kRows], sum[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
    most[r] = rest == 0 ? low : hn::IfThenElse(hn::FirstN(d, rest), load_some(x + r * stride + whole, rest), low);
  for (int64_t i = 0; i < whole; i += lanes) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) most[r] = hn::Max(most[r], hn::LoadU(d, x + r * stride + i));
  }
  const float nothing = -hn::GetLane(hn::Inf(d)), slack = kLargestExponent / factor;
  bool is_nothing = false;
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    if (!hn::AllFalse(d, hn::Gt(most[r], set(shifts[r] + slack)))) shifts[r] = largest_lane(most[r]);
    is_nothing |= shifts[r] == nothing;
    shift[r] = set(shifts[r]);
    sum[r] = hn::Zero(d);
  }
  if (is_nothing && kRows > 1) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) exp2_some_rows<1>(x + r * stride, stride, length, factor, shifts + r, sums + r);
    return;
  }
  if (is_nothing) {  // -inf and NaN are all that is there
    map(x, x, length, [](Vec v) HWY_ATTR { return keep_nan(v, hn::Zero(Floats())); });
    sums[0] = row_sum(x, length);
    return;
  }
  Vec e[kRows];
  const auto for_all = [](auto step) HWY_ATTR {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) step(r);
  };
  for (int64_t i = 0; i < whole; i += lanes) {
    for_all([&](int r) HWY_ATTR { e[r] = hn::Sub(hn::LoadU(d, x + r * stride + i), shift[r]); });
    exp2_or_zero(e, scale, least);
    for_all([&](int r) HWY_ATTR {
      hn::StoreU(e[r], d, x + r * stride + i);
      sum[r] = hn::Add(sum[r], e[r]);
    });
  }
  if (rest > 0) {
    for_all([&](int r) HWY_ATTR { e[r] = hn::Sub(load_some(x + r * stride + whole, rest), shift[r]); });
    exp2_or_zero(e, scale, least);
    for_all([&](int r) HWY_ATTR {
      store_some(e[r], x + r * stride + whole, rest);
      sum[r] = hn::Add(sum[r], hn::IfThenElseZero(hn::FirstN(d, rest), e[r]));
    });
  }
  sum_lanes(sum, sums);
}

void exp2_rows_loop(float* x, int64_t stride, int64_t rows, int64_t length, float factor, float* shifts, float* sums) {
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4) exp2_some_rows<4>(x + row * stride, stride, length, factor, shifts + row, sums + row);
  if (row + 2 <= rows) {
    exp2_some_rows<2>(x + row * stride, stride, length, factor, shifts + row, sums + row);
    row += 2;
  }
  if (row < rows) exp2_some_rows<1>(x + row * stride, stride, length, factor, shifts + row, sums + row);
}

/// exp2_columns of two vectors of columns from `column` on.
HWY_INLINE void exp2_two_columns(const Exp2Columns& p, int64_t column) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), stride = kExp2Columns;
  float* const x = p.x + column;
  const Vec low = hn::Neg(hn::Inf(d)), factor = set(p.factor), least = set(-127 / p.factor), slack = set(kLargestExponent / p.factor);
  Vec most0 = low, most1 = low;
  for (int64_t row = 0; row < p.rows; ++row) {
    most0 = hn::Max(most0, hn::LoadU(d, x + row * stride));
    most1 = hn::Max(most1, hn::LoadU(d, x + row * stride + lanes));
  }
  const auto shift_of = [&](Vec most, float* at) HWY_ATTR {
    const Vec old = hn::LoadU(d, at), shift = hn::IfThenElse(hn::Gt(most, hn::Add(old, slack)), most, old);
    hn::StoreU(shift, d, at);
    return hn::IfThenElseZero(hn::Gt(shift, low), shift);  // beside -inf alone weights are zero, whatever is subtracted
  };
  const Vec shift0 = shift_of(most0, p.shifts + column), shift1 = shift_of(most1, p.shifts + column + lanes);
  const Vec scale0 = hn::LoadU(d, p.scales + column), scale1 = hn::LoadU(d, p.scales + column + lanes), zero = hn::Zero(d);
  Vec sum0 = zero, sum1 = zero, square[4] = {zero, zero, zero, zero}, first[2] = {zero, zero}, second[2] = {zero, zero};
  for (float* at = x + p.rows * stride; at < x + exp2_rows_of(p.rows) * stride; at += stride) {
    hn::StoreU(low, d, at);
    hn::StoreU(low, d, at + lanes);
  }
  float* at = x;
  for (int64_t row = 0; row < p.rows; row += kExp2Rows) {
#pragma GCC unroll 3
    for (int pair = 0; pair < 3; ++pair, at += 2 * stride) {
      float* const next = at + stride;
      Vec e[4] = {hn::Sub(hn::LoadU(d, at), shift0), hn::Sub(hn::LoadU(d, at + lanes), shift1), hn::Sub(hn::LoadU(d, next), shift0),
                  hn::Sub(hn::LoadU(d, next + lanes), shift1)};
      exp2_or_zero(e, factor, least);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        e[i] = hn::Mul(e[i], i % 2 == 0 ? scale0 : scale1);
        hn::StoreU(e[i], d, (i < 2 ? at : next) + i % 2 * lanes);
        square[i] = hn::MulAdd(e[i], e[i], square[i]);
      }
      sum0 = hn::Add(sum0, hn::Add(e[0], e[2]));
      sum1 = hn::Add(sum1, hn::Add(e[1], e[3]));
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        if (pair == 0) first[i] = hn::MulAdd(e[i], e[i + 2], first[i]);
        if (pair == 1) first[i] = hn::NegMulAdd(e[i], e[i + 2], first[i]);
        if (pair == 1) second[i] = hn::NegMulAdd(e[i], e[i + 2], second[i]);
        if (pair == 2) second[i] = hn::MulAdd(e[i], e[i + 2], second[i]);
      }
    }
  }
  hn::StoreU(sum0, d, p.sums + column);
  hn::StoreU(sum1, d, p.sums + column + lanes);
  hn::StoreU(hn::Add(square[0], square[2]), d, p.squares + column);
  hn::StoreU(hn::Add(square[1], square[3]), d, p.squares + column + lanes);
  for (int i = 0; i < 2; ++i) {
    hn::StoreU(first[i], d, p.pairs + column + i * lanes);
    hn::StoreU(second[i], d, p.pairs + kExp2Columns + column + i * lanes);
  }
}

void exp2_columns_loop(const Exp2Columns& p) {
  static_assert(kExp2Columns % (HWY_MAX_BYTES / 2) == 0 || HWY_MAX_BYTES < 4);
  for (int64_t column = 0; column < kExp2Columns; column += 2 * static_cast<int64_t>(hn::Lanes(Floats()))) exp2_two_columns(p, column);
}

void softmax_rows_loop(const float* x, float* y, int64_t rows, int64_t length, bool log) {
  for (int64_t r = 0; r < rows; ++r, x += length, y += length) {
    const float largest = row_max_of_numbers(x, length);
    if (!log) {
      const Vec scale = hn::Div(set(1.0f), set(exp_and_sum(x, largest, y, length)));
      map(y, y, length, [scale](Vec v) HWY_ATTR { return hn::Mul(v, scale); });
      continue;
    }
    const auto add_exp = [largest](Vec a, Vec v) HWY_ATTR { return hn::Add(a, exp_of_negative(hn::Sub(v, set(largest)))); };
    const auto add = [](Vec a, Vec v) HWY_ATTR { return hn::Add(a, v); };
    const float sum = total(fold(x, length, set(0.0f), -hwy::HighestValue<float>() * 2, add_exp, add));
    const Vec shift = simd_log(set(sum)), less = set(largest);
    map(x, y, length, [shift, less](Vec v) HWY_ATTR { return hn::Sub(hn::Sub(v, less), shift); });
  }
}

/// `live` neighbouring columns of [length, inner]: one vector.
HWY_INLINE void softmax_columns(const float* x, float* y, int64_t length, int64_t inner, size_t live, bool log) {
  Vec largest = hn::Neg(hn::Inf(Floats()));
  for (int64_t l = 0; l < length; ++l) {
    const Vec v = load_some(x + l * inner, live);
    largest = hn::IfThenElse(hn::Or(hn::Gt(v, largest), is_nan(v)), v, largest);
  }
  Vec sum = set(0.0f);
  for (int64_t l = 0; l < length; ++l) {
    const Vec e = simd_exp(hn::Sub(load_some(x + l * inner, live), largest));
    sum = hn::Add(sum, e);
    if (!log) store_some(e, y + l * inner, live);
  }
  const Vec scale = hn::Div(set(1.0f), sum), shift = simd_log(sum);
  for (int64_t l = 0; l < length; ++l) {
    const Vec v = log ? hn::Sub(hn::Sub(load_some(x + l * inner, live), largest), shift) : hn::Mul(load_some(y + l * inner, live), scale);
    store_some(v, y + l * inner, live);
  }
}

/// Four vectors of columns side by side, so that more than one line of each row is used while it is there.
HWY_INLINE void softmax_four_columns(const float* x, float* y, int64_t length, int64_t inner) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Vec low = hn::Neg(hn::Inf(d)), zero = hn::Zero(d);
  const auto larger = [](Vec a, Vec v) HWY_ATTR { return hn::IfThenElse(hn::Or(hn::Gt(v, a), is_nan(v)), v, a); };
  Vec m0 = low, m1 = low, m2 = low, m3 = low, s0 = zero, s1 = zero, s2 = zero, s3 = zero;
  for (int64_t at = 0; at < length * inner; at += inner) {
    m0 = larger(m0, hn::LoadU(d, x + at));
    m1 = larger(m1, hn::LoadU(d, x + at + lanes));
    m2 = larger(m2, hn::LoadU(d, x + at + 2 * lanes));
    m3 = larger(m3, hn::LoadU(d, x + at + 3 * lanes));
  }
  const auto next = [&](int64_t at, Vec largest, Vec sum) HWY_ATTR {
    const Vec e = exp_of_negative(hn::Sub(hn::LoadU(d, x + at), largest));
    hn::StoreU(e, d, y + at);
    return hn::Add(sum, e);
  };
  for (int64_t at = 0; at < length * inner; at += inner) {
    s0 = next(at, m0, s0);
    s1 = next(at + lanes, m1, s1);
    s2 = next(at + 2 * lanes, m2, s2);
    s3 = next(at + 3 * lanes, m3, s3);
  }
  const Vec one = set(1.0f);
  s0 = hn::Div(one, s0);
  s1 = hn::Div(one, s1);
  s2 = hn::Div(one, s2);
  s3 = hn::Div(one, s3);
  for (int64_t at = 0; at < length * inner; at += inner) {
    hn::StoreU(hn::Mul(hn::LoadU(d, y + at), s0), d, y + at);
    hn::StoreU(hn::Mul(hn::LoadU(d, y + at + lanes), s1), d, y + at + lanes);
    hn::StoreU(hn::Mul(hn::LoadU(d, y + at + 2 * lanes), s2), d, y + at + 2 * lanes);
    hn::StoreU(hn::Mul(hn::LoadU(d, y + at + 3 * lanes), s3), d, y + at + 3 * lanes);
  }
}

void softmax_strided_loop(const float* x, float* y, int64_t outer, int64_t length, int64_t inner, bool log) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  for (int64_t o = 0; o < outer; ++o, x += length * inner, y += length * inner) {
    int64_t i = 0;
    if (!log)
      for (; i + 4 * lanes <= inner; i += 4 * lanes) softmax_four_columns(x + i, y + i, length, inner);
    for (; i < inner; i += lanes) softmax_columns(x + i, y + i, length, inner, static_cast<size_t>(HWY_MIN(lanes, inner - i)), log);
  }
}

void layer_norm_loop(const float* x, const float* scale, const float* bias, float epsilon, float* y, float* mean, float* inverse_deviation,
                     int64_t rows, int64_t length) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const float count = static_cast<float>(HWY_MAX(length, int64_t{1}));
  const auto add = [](Vec a, Vec v) HWY_ATTR { return hn::Add(a, v); };
  for (int64_t r = 0; r < rows; ++r, x += length, y += length) {
    const float centre = row_sum(x, length) / count;
    const auto add_square = [centre](Vec a, Vec v) HWY_ATTR {
      const Vec away = hn::Sub(v, set(centre));
      return hn::MulAdd(away, away, a);
    };
    const float variance = total(fold(x, length, set(0.0f), centre, add_square, add)) / count;
    const float factor = hn::GetLane(hn::Div(set(1.0f), hn::Sqrt(set(variance + epsilon))));
    const Vec less = set(centre), times = set(factor);
    for (int64_t i = 0; i < length; i += lanes) {
      const int64_t left = length - i;
      const size_t live = static_cast<size_t>(HWY_MIN(lanes, left));
      const bool whole = left >= lanes;
      const Vec v = hn::Mul(hn::Sub(whole ? hn::LoadU(d, x + i) : load_some(x + i, live), less), times);
      const Vec s = whole ? hn::LoadU(d, scale + i) : load_some(scale + i, live);
      const Vec b = !bias ? set(0.0f) : whole ? hn::LoadU(d, bias + i) : load_some(bias + i, live);
      if (whole)
        hn::StoreU(hn::MulAdd(v, s, b), d, y + i);
      else
        store_some(hn::MulAdd(v, s, b), y + i, live);
    }
    if (mean) mean[r] = centre;
    if (inverse_deviation) inverse_deviation[r] = factor;
  }
}

constexpr int kColumnVectors = 4;  // of layer_norm_columns

int64_t layer_norm_columns_lanes() { return kColumnVectors * static_cast<int64_t>(hn::Lanes(Floats())); }

/// All of kVectors vectors of columns, or the first of them where one is not full. Rows that lie far apart are read once; sums of a few
/// rows each join longer ones, so that rounding grows slowly.
template <int kVectors>
HWY_INLINE void layer_norm_strip(const float* x, const float* scale, const float* bias, float epsilon, const Activation& activation,
                                 float* y, int64_t row, int64_t length, size_t live, float* memory) {
  constexpr int64_t kFold = 32;
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const Vec count = set(static_cast<float>(length));
  Vec centre[kVectors], factor[kVectors];
  const auto mean_of = [&](Vec(&mean)[kVectors], auto value) HWY_ATTR {
    for (int k = 0; k < kVectors; ++k) mean[k] = set(0.0f);
    for (int64_t first = 0; first < length; first += kFold) {
      Vec part[kVectors];
      for (int k = 0; k < kVectors; ++k) part[k] = set(0.0f);
      for (int64_t r = first; r < HWY_MIN(length, first + kFold); ++r)
        for (int k = 0; k < kVectors; ++k) part[k] = value(r, k, part[k]);
      for (int k = 0; k < kVectors; ++k) mean[k] = hn::Add(mean[k], part[k]);
    }
    for (int k = 0; k < kVectors; ++k) mean[k] = hn::Div(mean[k], count);
  };
  const auto kept = [&](int64_t r, int k)
                        HWY_ATTR { return memory + (static_cast<size_t>(r) * kVectors + static_cast<size_t>(k)) * lanes; };
  mean_of(centre, [&](int64_t r, int k, Vec sum) HWY_ATTR {
    const float* from = x + r * row + static_cast<int64_t>(static_cast<size_t>(k) * lanes);
    const Vec v = live == lanes ? hn::LoadU(d, from) : load_some(from, live);
    hn::StoreU(v, d, kept(r, k));
    return hn::Add(sum, v);
  });
  mean_of(factor, [&](int64_t r, int k, Vec sum) HWY_ATTR {
    const Vec away = hn::Sub(hn::LoadU(d, kept(r, k)), centre[k]);
    hn::StoreU(away, d, kept(r, k));
    return hn::MulAdd(away, away, sum);
  });
  for (int k = 0; k < kVectors; ++k) factor[k] = hn::Div(set(1.0f), hn::Sqrt(hn::Add(factor[k], set(epsilon))));
  const auto store = [&](Vec v, int64_t r, int k) HWY_ATTR {
    float* to = y + r * row + static_cast<int64_t>(static_cast<size_t>(k) * lanes);
    if (live == lanes)
      hn::StoreU(v, d, to);
    else
      store_some(v, to, live);
  };
  const bool activates = activation.kind != ActivationKind::none;
  for (int64_t r = 0; r < length; ++r) {
    const Vec times = set(scale[r]), more = set(bias ? bias[r] : 0.0f);
    for (int k = 0; k < kVectors; ++k) {
      const Vec v = hn::MulAdd(hn::Mul(hn::LoadU(d, kept(r, k)), factor[k]), times, more);
      if (activates)
        hn::StoreU(v, d, kept(r, k));
      else
        store(v, r, k);
    }
  }
  if (!activates) return;
  const int64_t kept_row = static_cast<int64_t>(kVectors * lanes);
  activate_channels(activation, 0, memory, length, kept_row, kept_row);
  for (int64_t r = 0; r < length; ++r)
    for (int k = 0; k < kVectors; ++k) store(hn::LoadU(d, kept(r, k)), r, k);
}

void layer_norm_columns_loop(const float* x, const float* scale, const float* bias, float epsilon, const Activation& activation, float* y,
                             int64_t row, int64_t length, int64_t columns, float* memory) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  if (columns >= kColumnVectors * lanes)
    return layer_norm_strip<kColumnVectors>(x, scale, bias, epsilon, activation, y, row, length, static_cast<size_t>(lanes), memory);
  for (int64_t i = 0; i < columns; i += lanes) {
    const size_t live = static_cast<size_t>(HWY_MIN(lanes, columns - i));
    layer_norm_strip<1>(x + i, scale, bias, epsilon, activation, y + i, row, length, live, memory);
  }
}

HWY_INLINE float sum_of_squares(const float* x, int64_t count) {
  return sum_in_blocks(x, count, [](Vec a, Vec v) HWY_ATTR { return hn::MulAdd(v, v, a); });
}

void centre_scale_loop(const float* x, float centre, float factor, float offset, float* y, int64_t length) {
  map(x, y, length, [=](Vec v) HWY_ATTR { return hn::MulAdd(hn::Sub(v, set(centre)), set(factor), set(offset)); });
}

/// Of so many values that they stay in the first-level cache.
HWY_INLINE RowStatistics block_statistics(const float* x, int64_t count) {
  const double mean = static_cast<double>(row_sum(x, count)) / static_cast<double>(count);
  const float centre = static_cast<float>(mean);
  const auto add = [](Vec a, Vec v) HWY_ATTR { return hn::Add(a, v); };
  const auto add_square = [centre](Vec a, Vec v) HWY_ATTR {
    const Vec away = hn::Sub(v, set(centre));
    return hn::MulAdd(away, away, a);
  };
  const float squares = total(fold(x, count, set(0.0f), centre, add_square, add));
  return {mean, static_cast<double>(squares) / static_cast<double>(count)};
}

/// Blocks that are read from memory once.
RowStatistics row_statistics_loop(const float* x, int64_t length) {
  constexpr int64_t kBlock = 4096;
  RowStatistics result;
  for (int64_t i = 0; i < length; i += kBlock) {
    const int64_t count = HWY_MIN(kBlock, length - i);
    result = joined(result, i, block_statistics(x + i, count), count);
  }
  return result;
}

void rms_norm_loop(const float* x, const float* scale, float epsilon, float* y, float* inverse_root, int64_t rows, int64_t length) {
  const float count = static_cast<float>(HWY_MAX(length, int64_t{1}));
  for (int64_t r = 0; r < rows; ++r, x += length, y += length) {
    const Vec factor = hn::Div(set(1.0f), hn::Sqrt(set(sum_of_squares(x, length) / count + epsilon)));
    if (inverse_root) inverse_root[r] = hn::GetLane(factor);
    map2(x, scale, y, length, [factor](Vec v, Vec s) HWY_ATTR { return hn::Mul(hn::Mul(v, factor), s); });
  }
}

HWY_INLINE float reduce_row(Reduction op, const float* x, int64_t length) {
  switch (op) {
    case Reduction::sum: return row_sum(x, length);
    case Reduction::mean: return row_sum(x, length) / static_cast<float>(length);
    case Reduction::max: return row_max(x, length);
    case Reduction::min: break;
    case Reduction::sum_square: return sum_of_squares(x, length);
    case Reduction::l1: return sum_in_blocks(x, length, [](Vec a, Vec v) HWY_ATTR { return hn::Add(a, hn::Abs(v)); });
  }
  return row_min(x, length);
}

void reduce_rows_loop(Reduction op, const float* x, float* y, int64_t rows, int64_t length) {
  for (int64_t r = 0; r < rows; ++r) y[r] = reduce_row(op, x + r * length, length);
}

/// One vector of columns; long columns are summed in blocks, whose sums are then added.
HWY_INLINE Vec reduce_some_columns(Reduction op, const float* x, int64_t length, int64_t inner, size_t live) {
  constexpr int64_t kBlock = 128;
  const bool whole = live == hn::Lanes(Floats());
  const auto read = [=](int64_t l) HWY_ATTR { return whole ? hn::LoadU(Floats(), x + l * inner) : load_some(x + l * inner, live); };
  if (op == Reduction::max || op == Reduction::min) {
    Vec best = op == Reduction::max ? hn::Neg(hn::Inf(Floats())) : hn::Inf(Floats());
    for (int64_t l = 0; l < length; ++l) {
      const Vec v = read(l);
      const Mask better = op == Reduction::max ? hn::Gt(v, best) : hn::Lt(v, best);
      best = hn::IfThenElse(hn::Or(better, is_nan(v)), v, best);
    }
    return best;
  }
  Vec sum = set(0.0f);
  for (int64_t begin = 0; begin < length; begin += kBlock) {
    Vec part = set(0.0f);
    for (int64_t l = begin; l < HWY_MIN(length, begin + kBlock); ++l) {
      const Vec v = read(l);
      part = op == Reduction::sum_square ? hn::MulAdd(v, v, part) : hn::Add(part, op == Reduction::l1 ? hn::Abs(v) : v);
    }
    sum = hn::Add(sum, part);
  }
  return op == Reduction::mean ? hn::Div(sum, set(static_cast<float>(length))) : sum;
}

/// Eight vectors of columns side by side, so that more than one line of each row is used while it is there. `step` joins, `read` prepares.
template <typename Read, typename Join>
HWY_INLINE void reduce_eight(const float* x, float* y, int64_t begin, int64_t end, int64_t inner, Vec start, Read read, Join join) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vec a0 = start, a1 = start, a2 = start, a3 = start, a4 = start, a5 = start, a6 = start, a7 = start;
  for (const float* row = x + begin * inner; row < x + end * inner; row += inner) {
    a0 = join(a0, read(hn::LoadU(d, row)));
    a1 = join(a1, read(hn::LoadU(d, row + lanes)));
    a2 = join(a2, read(hn::LoadU(d, row + 2 * lanes)));
    a3 = join(a3, read(hn::LoadU(d, row + 3 * lanes)));
    a4 = join(a4, read(hn::LoadU(d, row + 4 * lanes)));
    a5 = join(a5, read(hn::LoadU(d, row + 5 * lanes)));
    a6 = join(a6, read(hn::LoadU(d, row + 6 * lanes)));
    a7 = join(a7, read(hn::LoadU(d, row + 7 * lanes)));
  }
  hn::StoreU(a0, d, y);
  hn::StoreU(a1, d, y + lanes);
  hn::StoreU(a2, d, y + 2 * lanes);
  hn::StoreU(a3, d, y + 3 * lanes);
  hn::StoreU(a4, d, y + 4 * lanes);
  hn::StoreU(a5, d, y + 5 * lanes);
  hn::StoreU(a6, d, y + 6 * lanes);
  hn::StoreU(a7, d, y + 7 * lanes);
}

/// The same order of sums as that of one vector.
template <typename Read>
HWY_INLINE void sum_eight(const float* x, float* y, int64_t length, int64_t inner, float divisor, Read read) {
  constexpr int64_t kBlock = 128;
  const int64_t count = 8 * static_cast<int64_t>(hn::Lanes(Floats()));
  HWY_ALIGN float part[8 * HWY_MAX_BYTES / sizeof(float)];
  const auto add = [](Vec a, Vec v) HWY_ATTR { return hn::Add(a, v); };
  for (int64_t i = 0; i < count; ++i) y[i] = 0;
  for (int64_t begin = 0; begin < length; begin += kBlock) {
    reduce_eight(x, part, begin, HWY_MIN(length, begin + kBlock), inner, set(0.0f), read, add);
    map2(y, part, y, count, add);
  }
  if (divisor != 1) map(y, y, count, [=](Vec v) HWY_ATTR { return hn::Div(v, set(divisor)); });
}

HWY_INLINE void reduce_eight_columns(Reduction op, const float* x, float* y, int64_t length, int64_t inner) {
  const auto same = [](Vec v) HWY_ATTR { return v; };
  switch (op) {
    case Reduction::sum: return sum_eight(x, y, length, inner, 1, same);
    case Reduction::mean: return sum_eight(x, y, length, inner, static_cast<float>(length), same);
    case Reduction::sum_square: return sum_eight(x, y, length, inner, 1, [](Vec v) HWY_ATTR { return hn::Mul(v, v); });
    case Reduction::l1: return sum_eight(x, y, length, inner, 1, [](Vec v) HWY_ATTR { return hn::Abs(v); });
    case Reduction::max:
      return reduce_eight(x, y, 0, length, inner, hn::Neg(hn::Inf(Floats())), same,
                          [](Vec a, Vec v) HWY_ATTR { return hn::IfThenElse(hn::Or(hn::Gt(v, a), is_nan(v)), v, a); });
    case Reduction::min:
      return reduce_eight(x, y, 0, length, inner, hn::Inf(Floats()), same,
                          [](Vec a, Vec v) HWY_ATTR { return hn::IfThenElse(hn::Or(hn::Lt(v, a), is_nan(v)), v, a); });
  }
}

void reduce_columns_loop(Reduction op, const float* x, float* y, int64_t length, int64_t inner) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + 8 * lanes <= inner; i += 8 * lanes) reduce_eight_columns(op, x + i, y + i, length, inner);
  for (; i < inner; i += lanes) {
    const size_t live = static_cast<size_t>(HWY_MIN(lanes, inner - i));
    store_some(reduce_some_columns(op, x + i, length, inner, live), y + i, live);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(softmax_rows_loop);
HWY_EXPORT(softmax_strided_loop);
HWY_EXPORT(exp2_rows_loop);
HWY_EXPORT(exp2_columns_loop);
HWY_EXPORT(layer_norm_loop);
HWY_EXPORT(layer_norm_columns_loop);
HWY_EXPORT(layer_norm_columns_lanes);
HWY_EXPORT(rms_norm_loop);
HWY_EXPORT(row_statistics_loop);
HWY_EXPORT(centre_scale_loop);
HWY_EXPORT(reduce_rows_loop);
HWY_EXPORT(reduce_columns_loop);

void softmax_rows(const float* x, float* y, int64_t rows, int64_t length, bool log) {
  HWY_DYNAMIC_DISPATCH(softmax_rows_loop)(x, y, rows, length, log);
}

void exp2_rows(float* x, int64_t stride, int64_t rows, int64_t length, float factor, float* shifts, float* sums) {
  HWY_DYNAMIC_DISPATCH(exp2_rows_loop)(x, stride, rows, length, factor, shifts, sums);
}

void exp2_columns(const Exp2Columns& p) { HWY_DYNAMIC_DISPATCH(exp2_columns_loop)(p); }

void softmax_strided(const float* x, float* y, int64_t outer, int64_t length, int64_t inner, bool log) {
  if (inner == 1) return softmax_rows(x, y, outer, length, log);
  HWY_DYNAMIC_DISPATCH(softmax_strided_loop)(x, y, outer, length, inner, log);
}

void layer_norm_rows(const float* x, const float* scale, const float* bias, float epsilon, float* y, float* mean, float* inverse_deviation,
                     int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(layer_norm_loop)(x, scale, bias, epsilon, y, mean, inverse_deviation, rows, length);
}

int64_t layer_norm_columns_width() { return HWY_DYNAMIC_DISPATCH(layer_norm_columns_lanes)(); }

void layer_norm_columns(const float* x, const float* scale, const float* bias, float epsilon, const Activation& activation, float* y,
                        int64_t row, int64_t length, int64_t columns, float* memory) {
  HWY_DYNAMIC_DISPATCH(layer_norm_columns_loop)(x, scale, bias, epsilon, activation, y, row, length, columns, memory);
}

void rms_norm_rows(const float* x, const float* scale, float epsilon, float* y, float* inverse_root, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(rms_norm_loop)(x, scale, epsilon, y, inverse_root, rows, length);
}

void centre_scale(const float* x, float centre, float factor, float offset, float* y, int64_t length) {
  HWY_DYNAMIC_DISPATCH(centre_scale_loop)(x, centre, factor, offset, y, length);
}

RowStatistics row_statistics(const float* x, int64_t length) { return HWY_DYNAMIC_DISPATCH(row_statistics_loop)(x, length); }

RowStatistics joined(const RowStatistics& a, int64_t a_count, const RowStatistics& b, int64_t b_count) {
  if (a_count == 0) return b;
  const double count = static_cast<double>(a_count + b_count), of_a = static_cast<double>(a_count) / count,
               of_b = static_cast<double>(b_count) / count, apart = b.mean - a.mean;
  return {a.mean + apart * of_b, a.variance * of_a + b.variance * of_b + apart * apart * of_a * of_b};
}

void reduce_rows(Reduction op, const float* x, float* y, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(reduce_rows_loop)(op, x, y, rows, length);
}

void reduce_columns(Reduction op, const float* x, float* y, int64_t length, int64_t inner) {
  HWY_DYNAMIC_DISPATCH(reduce_columns_loop)(op, x, y, length, inner);
}

}  // namespace rh::compute
#endif
