#include "compute/reduce/wide_reductions.h"

#include <cmath>
#include <limits>

#include "compute/reduce/row_math.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/reduce/wide_reductions.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

struct Product {
  static constexpr double kStart = 1;
  static HWY_INLINE Wide step(Wide a, Wide v) { return hn::Mul(a, v); }
  static HWY_INLINE Wide join(Wide a, Wide b) { return hn::Mul(a, b); }
  static double step(double a, double v) { return a * v; }
  static double join(double a, double b) { return a * b; }
  static double finish(double a) { return a; }
};

/// Halves of vectors of floats, as many numbers as vectors of doubles have.
using Halves = hn::Rebind<float, Doubles>;
using Half = hn::Vec<Halves>;

// Where an operation has pair(), two numbers make one float before they are widened; sums that are not certain(), for squares or sums that
// no float holds, are made anew.
struct Squares {
  static constexpr double kStart = 0;
  static HWY_INLINE Half pair(Half a, Half b) { return hn::MulAdd(a, a, hn::Mul(b, b)); }
  static bool certain(double a) { return a >= 1e-20 && a <= 1e300; }  // squares below 1e-38 were lost
  static HWY_INLINE Wide step(Wide a, Wide v) { return hn::MulAdd(v, v, a); }
  static HWY_INLINE Wide join(Wide a, Wide b) { return hn::Add(a, b); }
  static double step(double a, double v) { return a + v * v; }
  static double join(double a, double b) { return a + b; }
  static double finish(double a) { return a; }
};

struct Length : Squares {
  static double finish(double a) { return std::sqrt(a); }
};

struct LogSum {
  static constexpr double kStart = 0;
  static HWY_INLINE Half pair(Half a, Half b) { return hn::Add(a, b); }
  static bool certain(double a) { return a <= 1e300; }
  static HWY_INLINE Wide step(Wide a, Wide v) { return hn::Add(a, v); }
  static HWY_INLINE Wide join(Wide a, Wide b) { return hn::Add(a, b); }
  static double step(double a, double v) { return a + v; }
  static double join(double a, double b) { return a + b; }
  static double finish(double a) { return std::log(a); }
};

HWY_INLINE Half load_half(const float* x) { return hn::LoadU(Halves(), x); }
HWY_INLINE Wide load_wide(const float* x) { return hn::PromoteTo(Doubles(), load_half(x)); }

template <typename Op, bool kPairs>
HWY_INLINE double fold_all(const float* x, int64_t count) {
  const Doubles d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Wide start = hn::Set(d, Op::kStart);
  Wide a0 = start, a1 = start, a2 = start, a3 = start;
  int64_t i = 0;
  if constexpr (kPairs) {
    const auto pair = [x, lanes](int64_t at)
                          HWY_ATTR { return hn::PromoteTo(Doubles(), Op::pair(load_half(x + at), load_half(x + at + lanes))); };
    for (; i + 8 * lanes <= count; i += 8 * lanes) {
      a0 = Op::join(a0, pair(i));
      a1 = Op::join(a1, pair(i + 2 * lanes));
      a2 = Op::join(a2, pair(i + 4 * lanes));
      a3 = Op::join(a3, pair(i + 6 * lanes));
    }
  }
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a0 = Op::step(a0, load_wide(x + i));
    a1 = Op::step(a1, load_wide(x + i + lanes));
    a2 = Op::step(a2, load_wide(x + i + 2 * lanes));
    a3 = Op::step(a3, load_wide(x + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) a0 = Op::step(a0, load_wide(x + i));
  HWY_ALIGN double parts[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(Op::join(Op::join(a0, a1), Op::join(a2, a3)), d, parts);
  double all = parts[0];
  for (int64_t lane = 1; lane < lanes; ++lane) all = Op::join(all, parts[lane]);
  for (; i < count; ++i) all = Op::step(all, static_cast<double>(x[i]));
  return all;
}

template <typename Op>
double fold_row(const float* x, int64_t count) {
  constexpr int64_t kFew = 8;  // less than what vectors are worth
  if (count <= kFew) {
    double all = Op::kStart;
    for (int64_t i = 0; i < count; ++i) all = Op::step(all, static_cast<double>(x[i]));
    return Op::finish(all);
  }
  if constexpr (requires { Op::certain(0.0); }) {
    const double all = fold_all<Op, true>(x, count);
    if (HWY_LIKELY(Op::certain(all))) return Op::finish(all);
  }
  return Op::finish(fold_all<Op, false>(x, count));
}

/// Four vectors of columns side by side, then the rest one by one.
template <typename Op>
void fold_columns(const float* x, float* y, int64_t length, int64_t inner) {
  const Doubles d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN double parts[4 * HWY_MAX_BYTES / sizeof(double)];
  int64_t i = 0;
  for (; i + 4 * lanes <= inner; i += 4 * lanes) {
    const Wide start = hn::Set(d, Op::kStart);
    Wide a0 = start, a1 = start, a2 = start, a3 = start;
    for (int64_t l = 0; l < length; ++l) {
      const float* row = x + l * inner + i;
      a0 = Op::step(a0, load_wide(row));
      a1 = Op::step(a1, load_wide(row + lanes));
      a2 = Op::step(a2, load_wide(row + 2 * lanes));
      a3 = Op::step(a3, load_wide(row + 3 * lanes));
    }
    hn::Store(a0, d, parts);
    hn::Store(a1, d, parts + lanes);
    hn::Store(a2, d, parts + 2 * lanes);
    hn::Store(a3, d, parts + 3 * lanes);
    for (int64_t lane = 0; lane < 4 * lanes; ++lane) y[i + lane] = static_cast<float>(Op::finish(parts[lane]));
  }
  for (; i < inner; ++i) {
    double all = Op::kStart;
    for (int64_t l = 0; l < length; ++l) all = Op::step(all, static_cast<double>(x[l * inner + i]));
    y[i] = static_cast<float>(Op::finish(all));
  }
}

/// Sum of e^(x - largest).
float exp_sum_row(const float* x, float largest, int64_t count) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Vec less = set(largest);
  Vec s0 = set(0.0f), s1 = set(0.0f);
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    s0 = hn::Add(s0, exp_of_negative(hn::Sub(hn::LoadU(d, x + i), less)));
    s1 = hn::Add(s1, exp_of_negative(hn::Sub(hn::LoadU(d, x + i + lanes), less)));
  }
  for (; i < count; i += lanes) {
    const size_t live = static_cast<size_t>(HWY_MIN(lanes, count - i));
    s0 = hn::Add(s0, hn::IfThenElseZero(hn::FirstN(d, live), exp_of_negative(hn::Sub(load_some(x + i, live), less))));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
}

/// The logarithms of sums of columns whose largest values stand in y.
void log_sum_exp_columns(const float* x, float* y, int64_t length, int64_t inner) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < inner; i += lanes) {
    const size_t live = static_cast<size_t>(HWY_MIN(lanes, inner - i));
    const Vec largest = load_some(y + i, live);
    Vec sum = set(0.0f);
    for (int64_t l = 0; l < length; ++l) sum = hn::Add(sum, exp_of_negative(hn::Sub(load_some(x + l * inner + i, live), largest)));
    const Mask finite = hn::Lt(hn::Abs(largest), hn::Inf(d));
    store_some(hn::IfThenElse(finite, hn::Add(largest, simd_log(sum)), largest), y + i, live);
  }
}

void wide_rows_loop(WideReduction op, const float* x, float* y, int64_t rows, int64_t length) {
  for (int64_t r = 0; r < rows; ++r, x += length) {
    if (op != WideReduction::log_sum_exp) {
      y[r] = static_cast<float>(op == WideReduction::product   ? fold_row<Product>(x, length)
                                : op == WideReduction::squares ? fold_row<Squares>(x, length)
                                : op == WideReduction::l2      ? fold_row<Length>(x, length)
                                                               : fold_row<LogSum>(x, length));
      continue;
    }
    float largest = 0;
    reduce_rows(Reduction::max, x, &largest, 1, length);
    const bool finite = std::fabs(largest) <= std::numeric_limits<float>::max();
    y[r] = finite ? largest + std::log(exp_sum_row(x, largest, length)) : largest;
  }
}

void wide_columns_loop(WideReduction op, const float* x, float* y, int64_t length, int64_t inner) {
  switch (op) {
    case WideReduction::product: return fold_columns<Product>(x, y, length, inner);
    case WideReduction::squares: return fold_columns<Squares>(x, y, length, inner);
    case WideReduction::l2: return fold_columns<Length>(x, y, length, inner);
    case WideReduction::log_sum: return fold_columns<LogSum>(x, y, length, inner);
    case WideReduction::log_sum_exp: return log_sum_exp_columns(x, y, length, inner);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(wide_rows_loop);
HWY_EXPORT(wide_columns_loop);

void reduce_rows(WideReduction op, const float* x, float* y, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(wide_rows_loop)(op, x, y, rows, length);
}

void reduce_columns(WideReduction op, const float* x, float* y, int64_t length, int64_t inner) {
  if (op == WideReduction::log_sum_exp) reduce_columns(Reduction::max, x, y, length, inner);
  HWY_DYNAMIC_DISPATCH(wide_columns_loop)(op, x, y, length, inner);
}

}  // namespace rh::compute
#endif
