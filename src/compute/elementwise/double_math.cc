#include "compute/elementwise/double_math.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/double_math.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/double_functions-inl.h"
#include "compute/simd/number_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// Where a target has no instruction that rounds, its functions lose the sign of zeros.
void double_unary_loop(DoubleUnary op, const double* x, double* y, int64_t n) {
  switch (op) {
    case DoubleUnary::sqrt: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return hn::Sqrt(v); });
    case DoubleUnary::reciprocal: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return hn::Div(doubles(1.0), v); });
    case DoubleUnary::floor: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return hn::CopySign(hn::Floor(v), v); });
    case DoubleUnary::ceil: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return hn::CopySign(hn::Ceil(v), v); });
    case DoubleUnary::round: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return hn::CopySign(hn::Round(v), v); });
    case DoubleUnary::exp: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return double_exp(v); });
    case DoubleUnary::log: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return double_log(v); });
    case DoubleUnary::tanh: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return double_tanh(v); });
    case DoubleUnary::sigmoid: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return double_sigmoid(v); });
    case DoubleUnary::sin: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return double_sine<false>(v); });
    case DoubleUnary::cos: return map_numbers(x, y, n, [](DoubleVec v) HWY_ATTR { return double_sine<true>(v); });
  }
}

void fmod_loop(const double* a, int64_t step_a, const double* b, int64_t step_b, double* y, int64_t count) {
  map_pairs(a, step_a, b, step_b, y, count, [](DoubleVec u, DoubleVec v) HWY_ATTR { return double_fmod(u, v); });
}

void scale_shift_doubles(const double* x, double scale, double shift, double* y, int64_t count) {
  map_numbers(x, y, count, [a = doubles(scale), b = doubles(shift)](DoubleVec v) HWY_ATTR { return hn::MulAdd(v, a, b); });
}

void scale_shift_double_columns(const double* x, const double* scale, const double* shift, double* y, int64_t rows, int64_t length) {
  const DoubleTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), whole = length / lanes * lanes, left = length - whole;
  for (int64_t row = 0; row < rows; ++row, x += length, y += length) {
    for (int64_t i = 0; i < whole; i += lanes)
      hn::StoreU(hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, scale + i), hn::LoadU(d, shift + i)), d, y + i);
    if (left == 0) continue;
    const DoubleVec factor = load_first(scale + whole, left), offset = load_first(shift + whole, left);
    store_first(hn::MulAdd(load_first(x + whole, left), factor, offset), y + whole, left);
  }
}

/// The largest number of a row, not less than `start`; NaN is passed over.
HWY_INLINE double largest_of(const double* x, int64_t count, double start) {
  const DoubleTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (count >= 2 * lanes) {
    DoubleVec a = doubles(start), b = a;
    const auto larger = [](DoubleVec best, DoubleVec v) HWY_ATTR { return hn::IfThenElse(hn::Lt(best, v), v, best); };
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      a = larger(a, hn::LoadU(d, x + i));
      b = larger(b, hn::LoadU(d, x + i + lanes));
    }
    HWY_ALIGN double parts[HWY_MAX_BYTES / sizeof(double)];
    hn::Store(larger(a, b), d, parts);
    for (int64_t k = 0; k < lanes; ++k) start = start < parts[k] ? parts[k] : start;
  }
  for (; i < count; ++i) start = start < x[i] ? x[i] : start;
  return start;
}

/// The sum of f of all vectors of a row, f of zeros being zero.
template <typename F>
HWY_INLINE double sum_of(const double* x, int64_t count, F f) {
  const DoubleTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  DoubleVec a = hn::Zero(d), b = a;
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Add(a, f(hn::LoadU(d, x + i)));
    b = hn::Add(b, f(hn::LoadU(d, x + i + lanes)));
  }
  for (; i < count; i += lanes) a = hn::Add(a, f(i + lanes <= count ? hn::LoadU(d, x + i) : load_first(x + i, count - i)));
  HWY_ALIGN double parts[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(hn::Add(a, b), d, parts);
  for (int64_t half = lanes / 2; half > 0; half /= 2)
    for (int64_t k = 0; k < half; ++k) parts[k] += parts[k + half];
  return parts[0];
}

constexpr int64_t kFewColumns = 8;  // in rows of which vectors are not worth their beginnings

HWY_INLINE double row_sum(const double* x, int64_t count) {
  if (count > kFewColumns) return sum_of(x, count, [](DoubleVec v) HWY_ATTR { return v; });
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

/// The sum of e^x of one row by pieces.
double exp_sum(const double* x, int64_t count) {
  constexpr int64_t kPiece = 512;
  HWY_ALIGN double parts[kPiece];
  double sum = 0;
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t piece = std::min(kPiece, count - i);
    double_unary_loop(DoubleUnary::exp, x + i, parts, piece);
    sum += row_sum(parts, piece);
  }
  return sum;
}

constexpr int64_t kSoftmaxElements = 1024;  // that stay in the first-level cache

/// y[i] = f(y[i], numbers[row]); of short rows at most kSoftmaxElements elements.
template <typename F>
HWY_INLINE void with_number_of_row(const double* numbers, double* y, int64_t rows, int64_t length, F f) {
  if (length > kFewColumns) {
    for (int64_t row = 0; row < rows; ++row, y += length)
      map_numbers(y, y, length, [f, number = doubles(numbers[row])](DoubleVec v) HWY_ATTR { return f(v, number); });
    return;
  }
  HWY_ALIGN double each[kSoftmaxElements];
  double* to = each;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < length; ++i) *to++ = numbers[row];
  map_pairs(y, 1, each, 1, y, rows * length, f);
}

/// y = rows of x less their largest number. `length` may be a constant.
template <typename Length>
HWY_INLINE void subtract_largest_of_few(const double* x, double* y, int64_t rows, Length length) {
  for (int64_t row = 0; row < rows; ++row, x += length, y += length) {
    double largest = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < length; ++i) largest = largest < x[i] ? x[i] : largest;
    for (int64_t i = 0; i < length; ++i) y[i] = x[i] - largest;
  }
}

HWY_INLINE void subtract_largest(const double* x, double* y, int64_t rows, int64_t length) {
  if (length == 2) return subtract_largest_of_few(x, y, rows, std::integral_constant<int64_t, 2>());
  if (length == 3) return subtract_largest_of_few(x, y, rows, std::integral_constant<int64_t, 3>());
  if (length <= kFewColumns) return subtract_largest_of_few(x, y, rows, length);
  for (int64_t row = 0; row < rows; ++row, x += length, y += length) {
    const double largest = largest_of(x, length, -std::numeric_limits<double>::infinity());
    map_numbers(x, y, length, [less = doubles(largest)](DoubleVec v) HWY_ATTR { return hn::Sub(v, less); });
  }
}

void softmax_double_rows(const double* x, double* y, int64_t rows, int64_t length, bool log) {
  if (length == 0) return;
  const int64_t most = std::max<int64_t>(1, kSoftmaxElements / length);
  HWY_ALIGN double parts[kSoftmaxElements], sums[kSoftmaxElements];
  for (int64_t begin = 0; begin < rows; begin += most, x += most * length, y += most * length) {
    const int64_t count = std::min(most, rows - begin), size = count * length;
    subtract_largest(x, y, count, length);
    if (log && size > kSoftmaxElements) {
      sums[0] = exp_sum(y, length);
    } else {
      double* const powers = log ? parts : y;
      double_unary_loop(DoubleUnary::exp, y, powers, size);
      for (int64_t row = 0; row < count; ++row) sums[row] = row_sum(powers + row * length, length);
    }
    if (log) {
      double_unary_loop(DoubleUnary::log, sums, sums, count);
      with_number_of_row(sums, y, count, length, [](DoubleVec v, DoubleVec number) HWY_ATTR { return hn::Sub(v, number); });
    } else {
      with_number_of_row(sums, y, count, length, [](DoubleVec v, DoubleVec number) HWY_ATTR { return hn::Div(v, number); });
    }
  }
}

HWY_INLINE double size_of_row(RowSize size, const double* x, int64_t count) {
  if (size == RowSize::largest) return largest_of(x, count, x[0]);
  if (size == RowSize::sum) return sum_of(x, count, [](DoubleVec v) HWY_ATTR { return hn::Abs(v); });
  return std::sqrt(sum_of(x, count, [](DoubleVec v) HWY_ATTR { return hn::Mul(v, v); }));
}

/// The sizes of short rows, each as often as it has elements; 1 in place of 0. `length` may be a constant.
template <RowSize kSize, typename Length>
HWY_INLINE void sizes_of_few(const double* x, int64_t rows, Length length, double* sizes) {
  for (int64_t row = 0; row < rows; ++row, x += length, sizes += length) {
    double all = kSize == RowSize::largest ? x[0] : 0;
    for (int64_t i = 0; i < length; ++i) {
      if constexpr (kSize == RowSize::sum) all += std::fabs(x[i]);
      if constexpr (kSize == RowSize::length) all += x[i] * x[i];
      if constexpr (kSize == RowSize::largest) all = all < x[i] ? x[i] : all;
    }
    if constexpr (kSize == RowSize::length) all = std::sqrt(all);
    all = all == 0 ? 1 : all;
    for (int64_t i = 0; i < length; ++i) sizes[i] = all;
  }
}
template <RowSize kSize>
HWY_INLINE void sizes_of_few(const double* x, int64_t rows, int64_t length, double* sizes) {
  switch (length) {
    case 2: return sizes_of_few<kSize>(x, rows, std::integral_constant<int64_t, 2>(), sizes);
    case 3: return sizes_of_few<kSize>(x, rows, std::integral_constant<int64_t, 3>(), sizes);
    case 4: return sizes_of_few<kSize>(x, rows, std::integral_constant<int64_t, 4>(), sizes);
    default: return sizes_of_few<kSize, int64_t>(x, rows, length, sizes);
  }
}

/// y[i] = x[i] / sizes[i * step].
HWY_INLINE void float_quotients(const double* x, const double* sizes, int64_t step, float* y, int64_t count) {
  const DoubleTag d;
  const hn::Rebind<float, DoubleTag> narrow;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const DoubleVec one = doubles(*sizes);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::DemoteTo(narrow, hn::Div(hn::LoadU(d, x + i), step ? hn::LoadU(d, sizes + i) : one)), narrow, y + i);
  for (; i < count; ++i) y[i] = static_cast<float>(x[i] / sizes[i * step]);
}

void divide_rows_loop(RowSize size, const double* x, float* y, int64_t rows, int64_t length) {
  constexpr int64_t kAtOnce = 512, kFew = 24;
  double sizes[kAtOnce];
  if (length == 0) return;
  if (length > kFew) {
    for (int64_t row = 0; row < rows; ++row, x += length, y += length) {
      sizes[0] = size_of_row(size, x, length);
      if (sizes[0] == 0) sizes[0] = 1;
      float_quotients(x, sizes, 0, y, length);
    }
    return;
  }
  const int64_t most = kAtOnce / length;
  for (int64_t begin = 0; begin < rows; begin += most, x += most * length, y += most * length) {
    const int64_t count = std::min(most, rows - begin);
    if (size == RowSize::sum) {
      sizes_of_few<RowSize::sum>(x, count, length, sizes);
    } else if (size == RowSize::length) {
      sizes_of_few<RowSize::length>(x, count, length, sizes);
    } else {
      sizes_of_few<RowSize::largest>(x, count, length, sizes);
    }
    float_quotients(x, sizes, 1, y, count * length);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(double_unary_loop);
HWY_EXPORT(fmod_loop);
HWY_EXPORT(scale_shift_doubles);
HWY_EXPORT(scale_shift_double_columns);
HWY_EXPORT(softmax_double_rows);
HWY_EXPORT(divide_rows_loop);

void double_unary(DoubleUnary op, const double* x, double* y, int64_t count) { HWY_DYNAMIC_DISPATCH(double_unary_loop)(op, x, y, count); }
void double_fmod(const double* a, int64_t step_a, const double* b, int64_t step_b, double* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(fmod_loop)(a, step_a, b, step_b, y, count);
}
void scale_shift(const double* x, double scale, double shift, double* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(scale_shift_doubles)(x, scale, shift, y, count);
}
void scale_shift_columns(const double* x, const double* scale, const double* shift, double* y, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(scale_shift_double_columns)(x, scale, shift, y, rows, length);
}
void softmax_rows(const double* x, double* y, int64_t rows, int64_t length, bool log) {
  HWY_DYNAMIC_DISPATCH(softmax_double_rows)(x, y, rows, length, log);
}
void divide_rows(RowSize size, const double* x, float* y, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(divide_rows_loop)(size, x, y, rows, length);
}

}  // namespace rh::compute
#endif
