#include "compute/reduce/number_reductions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/fork_mutex.h"
#include "compute/reduce/powers_of_e.h"
#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/reduce/number_reductions.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/double_functions-inl.h"
#include "compute/simd/number_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

template <Fold kOp, typename T>
T start_of() {
  using Limits = std::numeric_limits<T>;
  if constexpr (kOp == Fold::product) return T(1);
  if constexpr (kOp == Fold::max) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if constexpr (kOp == Fold::min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return T(0);
}

/// The larger one, or the smaller one: the second where it is NaN.
template <Fold kOp, typename V>
HWY_INLINE V further(V best, V x) {
  if constexpr (std::is_same_v<hn::TFromV<V>, double>) {
    const auto better = kOp == Fold::max ? hn::Gt(x, best) : hn::Lt(x, best);
    return hn::IfThenElse(hn::Or(better, hn::Not(hn::Eq(x, x))), x, best);
  } else {
    return kOp == Fold::max ? hn::Max(x, best) : hn::Min(x, best);
  }
}

/// Of two results.
template <Fold kOp, typename V>
HWY_INLINE V joined(V a, V b) {
  if constexpr (kOp == Fold::max || kOp == Fold::min) return further<kOp>(a, b);
  if constexpr (kOp == Fold::product) return hn::Mul(a, b);
  return hn::Add(a, b);
}

template <Fold kOp, typename A>
HWY_INLINE A joined_number(A a, A b) {
  if constexpr (kOp == Fold::max) return b > a || b != b ? b : a;
  if constexpr (kOp == Fold::min) return b < a || b != b ? b : a;
  if constexpr (std::is_integral_v<A>) {
    const auto u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
    return static_cast<A>(kOp == Fold::product ? u * v : u + v);
  } else {
    return kOp == Fold::product ? a * b : a + b;
  }
}

/// Of a result and one more element.
template <Fold kOp, typename V>
HWY_INLINE V stepped(V result, V x) {
  const V zero = hn::Zero(hn::DFromV<V>());
  constexpr bool kIsDouble = std::is_same_v<hn::TFromV<V>, double>;
  if constexpr (kOp == Fold::squares) {
    if constexpr (kIsDouble) return hn::MulAdd(x, x, result);
    return hn::Add(result, hn::Mul(x, x));
  } else if constexpr (kOp == Fold::magnitudes) {
    if constexpr (kIsDouble) return hn::Add(result, hn::Abs(x));
    return hn::Add(result, hn::IfThenElse(hn::Lt(x, zero), hn::Sub(zero, x), x));
  } else {
    return joined<kOp>(result, x);
  }
}

/// Elements as those of the accumulator's type.
template <typename A, typename T>
HWY_INLINE hn::Vec<hn::ScalableTag<A>> load_as(const T* x) {
  const hn::ScalableTag<A> d;
  if constexpr (std::is_same_v<A, T>) {
    return hn::LoadU(d, x);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, decltype(d)>(), x));
  }
}

/// The extreme of a row of whole pairs of vectors; false where an element is NaN, and perhaps where there are infinities of both signs: a
/// sum tells that at less cost than comparisons do.
template <Fold kOp>
HWY_INLINE bool extreme_of_numbers(const double* x, int64_t count, double& extreme) {
  const DoubleTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto extreme_of = [](DoubleVec a, DoubleVec b) HWY_ATTR { return kOp == Fold::max ? hn::Max(a, b) : hn::Min(a, b); };
  DoubleVec a = hn::LoadU(d, x), b = hn::LoadU(d, x + lanes), sum_a = a, sum_b = b;
  for (int64_t i = 2 * lanes; i < count; i += 2 * lanes) {
    const DoubleVec u = hn::LoadU(d, x + i), v = hn::LoadU(d, x + i + lanes);
    a = extreme_of(a, u);
    b = extreme_of(b, v);
    sum_a = hn::Add(sum_a, u);
    sum_b = hn::Add(sum_b, v);
  }
  const DoubleVec sum = hn::Add(sum_a, sum_b), both = extreme_of(a, b);
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(sum, sum)))) return false;
  extreme = hn::GetLane(kOp == Fold::max ? hn::MaxOfLanes(d, both) : hn::MinOfLanes(d, both));
  return true;
}

template <Fold kOp, typename A, typename T>
HWY_INLINE A fold_typed(const T* x, int64_t count) {
  const hn::ScalableTag<A> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if constexpr (std::is_same_v<A, double> && (kOp == Fold::max || kOp == Fold::min)) {
    double extreme = 0;
    if (count > 0 && count % (2 * lanes) == 0 && extreme_of_numbers<kOp>(x, count, extreme)) return extreme;
  }
  const A start = start_of<kOp, A>();
  auto a0 = hn::Set(d, start), a1 = a0, a2 = a0, a3 = a0;
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a0 = stepped<kOp>(a0, load_as<A>(x + i));
    a1 = stepped<kOp>(a1, load_as<A>(x + i + lanes));
    a2 = stepped<kOp>(a2, load_as<A>(x + i + 2 * lanes));
    a3 = stepped<kOp>(a3, load_as<A>(x + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) a0 = stepped<kOp>(a0, load_as<A>(x + i));
  if (i < count) {
    HWY_ALIGN A rest[HWY_MAX_BYTES / sizeof(A)];
    std::fill_n(rest, lanes, start);
    std::copy(x + i, x + count, rest);
    // What fills it up adds nothing.
    a1 = stepped<kOp>(a1, hn::Load(d, rest));
  }
  const auto vector = joined<kOp>(joined<kOp>(a0, a1), joined<kOp>(a2, a3));
  if constexpr (kOp == Fold::sum || kOp == Fold::magnitudes || kOp == Fold::squares) {
    if constexpr (std::is_integral_v<A>) {  // which wrap around
      HWY_ALIGN A parts[HWY_MAX_BYTES / sizeof(A)];
      hn::Store(vector, d, parts);
      std::make_unsigned_t<A> sum = 0;
      for (int64_t k = 0; k < lanes; ++k) sum += static_cast<std::make_unsigned_t<A>>(parts[k]);
      return static_cast<A>(sum);
    } else {
      return hn::GetLane(hn::SumOfLanes(d, vector));
    }
  }
  if constexpr (kOp == Fold::max || kOp == Fold::min) {
    if (HWY_LIKELY(hn::AllTrue(d, hn::Eq(vector, vector))))
      return hn::GetLane(kOp == Fold::max ? hn::MaxOfLanes(d, vector) : hn::MinOfLanes(d, vector));
  }
  HWY_ALIGN A parts[HWY_MAX_BYTES / sizeof(A)];
  hn::Store(vector, d, parts);
  A all = parts[0];
  for (int64_t k = 1; k < lanes; ++k) all = joined_number<kOp>(all, parts[k]);
  return all;
}

/// Extremes of 32-bit integers, in vectors of their own.
template <Fold kOp>
HWY_INLINE int64_t fold_words(const int32_t* x, int64_t count) {
  if constexpr (kOp == Fold::max || kOp == Fold::min) {
    const int64_t far = kOp == Fold::max ? std::numeric_limits<int64_t>::lowest() : std::numeric_limits<int64_t>::max();
    return count == 0 ? far : fold_typed<kOp, int32_t>(x, count);
  } else {
    return fold_typed<kOp, int64_t>(x, count);
  }
}

template <typename F>
HWY_INLINE auto with_fold(Fold op, F f) {
  switch (op) {
    case Fold::sum: return f(std::integral_constant<Fold, Fold::sum>());
    case Fold::magnitudes: return f(std::integral_constant<Fold, Fold::magnitudes>());
    case Fold::squares: return f(std::integral_constant<Fold, Fold::squares>());
    case Fold::product: return f(std::integral_constant<Fold, Fold::product>());
    case Fold::max: return f(std::integral_constant<Fold, Fold::max>());
    default: return f(std::integral_constant<Fold, Fold::min>());
  }
}

void fold_doubles(Fold op, const double* x, int64_t rows, int64_t length, double* results) {
  with_fold(op, [=](auto kind) HWY_ATTR {
    for (int64_t row = 0; row < rows; ++row) results[row] = fold_typed<decltype(kind)::value, double>(x + row * length, length);
  });
}
void fold_longs(Fold op, const int64_t* x, int64_t rows, int64_t length, int64_t* results) {
  with_fold(op, [=](auto kind) HWY_ATTR {
    for (int64_t row = 0; row < rows; ++row) results[row] = fold_typed<decltype(kind)::value, int64_t>(x + row * length, length);
  });
}
void fold_ints(Fold op, const int32_t* x, int64_t rows, int64_t length, int64_t* results) {
  with_fold(op, [=](auto kind) HWY_ATTR {
    for (int64_t row = 0; row < rows; ++row) results[row] = fold_words<decltype(kind)::value>(x + row * length, length);
  });
}

/// Four vectors of columns side by side, then one, then what is left.
template <Fold kOp, typename T>
HWY_INLINE void fold_columns(const T* x, int64_t stride, int64_t rows, T* results, int64_t columns) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 4 * lanes <= columns; i += 4 * lanes) {
    T* const to = results + i;
    auto a0 = hn::LoadU(d, to), a1 = hn::LoadU(d, to + lanes), a2 = hn::LoadU(d, to + 2 * lanes), a3 = hn::LoadU(d, to + 3 * lanes);
    const T* from = x + i;
    for (int64_t row = 0; row < rows; ++row, from += stride) {
      a0 = stepped<kOp>(a0, hn::LoadU(d, from));
      a1 = stepped<kOp>(a1, hn::LoadU(d, from + lanes));
      a2 = stepped<kOp>(a2, hn::LoadU(d, from + 2 * lanes));
      a3 = stepped<kOp>(a3, hn::LoadU(d, from + 3 * lanes));
    }
    hn::StoreU(a0, d, to);
    hn::StoreU(a1, d, to + lanes);
    hn::StoreU(a2, d, to + 2 * lanes);
    hn::StoreU(a3, d, to + 3 * lanes);
  }
  for (; i + lanes <= columns; i += lanes) {
    auto all = hn::LoadU(d, results + i);
    for (int64_t row = 0; row < rows; ++row) all = stepped<kOp>(all, hn::LoadU(d, x + row * stride + i));
    hn::StoreU(all, d, results + i);
  }
  if (const int64_t left = columns - i; left > 0) {
    auto all = load_first(results + i, left);
    for (int64_t row = 0; row < rows; ++row) all = stepped<kOp>(all, load_first(x + row * stride + i, left));
    store_first(all, results + i, left);
  }
}

/// So many rows at once that columns further to the right find theirs in the cache.
template <typename T>
HWY_INLINE void fold_down_typed(Fold op, const T* x, int64_t stride, int64_t rows, T* results, int64_t columns) {
  constexpr int64_t kAtOnce = 64;
  with_fold(op, [=](auto kind) HWY_ATTR {
    for (int64_t row = 0; row < rows; row += kAtOnce)
      fold_columns<decltype(kind)::value>(x + row * stride, stride, std::min(kAtOnce, rows - row), results, columns);
  });
}
void fold_down_doubles(Fold op, const double* x, int64_t stride, int64_t rows, double* results, int64_t columns) {
  fold_down_typed(op, x, stride, rows, results, columns);
}
void fold_down_longs(Fold op, const int64_t* x, int64_t stride, int64_t rows, int64_t* results, int64_t columns) {
  fold_down_typed(op, x, stride, rows, results, columns);
}
void fold_down_ints(Fold op, const int32_t* x, int64_t stride, int64_t rows, int32_t* results, int64_t columns) {
  fold_down_typed(op, x, stride, rows, results, columns);
}

template <bool kLargest, bool kLast>
HWY_INLINE bool extremes_down(const double* x, int64_t stride, int64_t rows, int64_t* places, int64_t columns) {
  const DoubleTag d;
  const hn::RebindToSigned<DoubleTag> di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto numbers = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (int64_t i = 0; i < columns; i += lanes) {
    const int64_t live = std::min(lanes, columns - i);
    const auto load = [=](const double* from) HWY_ATTR { return live == lanes ? hn::LoadU(d, from) : load_first(from, live); };
    DoubleVec best = load(x + i);
    numbers = hn::And(numbers, hn::Eq(best, best));
    auto place = hn::Zero(di);
    for (int64_t row = 1; row < rows; ++row) {
      const DoubleVec v = load(x + row * stride + i);
      const auto better = kLargest ? (kLast ? hn::Ge(v, best) : hn::Gt(v, best)) : (kLast ? hn::Le(v, best) : hn::Lt(v, best));
      numbers = hn::And(numbers, hn::Eq(v, v));
      best = hn::IfThenElse(better, v, best);
      place = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, row), place);
    }
    if (live == lanes) {
      hn::StoreU(place, di, places + i);
    } else {
      store_first(place, places + i, live);
    }
  }
  return hn::AllTrue(d, numbers);
}
bool extremes_down_loop(const double* x, int64_t stride, int64_t rows, bool largest, bool last, int64_t* places, int64_t columns) {
  if (largest)
    return last ? extremes_down<true, true>(x, stride, rows, places, columns)
                : extremes_down<true, false>(x, stride, rows, places, columns);
  return last ? extremes_down<false, true>(x, stride, rows, places, columns)
              : extremes_down<false, false>(x, stride, rows, places, columns);
}

double exp_sum_doubles(const double* x, double largest, int64_t count) {
  const DoubleTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const DoubleVec less = doubles(largest);
  DoubleVec a = hn::Zero(d), b = a;
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Add(a, double_exp(hn::Sub(hn::LoadU(d, x + i), less)));
    b = hn::Add(b, double_exp(hn::Sub(hn::LoadU(d, x + i + lanes), less)));
  }
  for (; i + lanes <= count; i += lanes) a = hn::Add(a, double_exp(hn::Sub(hn::LoadU(d, x + i), less)));
  if (i < count) {
    const DoubleVec powers = double_exp(hn::Sub(load_first(x + i, count - i, largest), less));
    b = hn::Add(b, hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(count - i)), powers));
  }
  HWY_ALIGN double parts[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(hn::Add(a, b), d, parts);
  double sum = 0;
  for (int64_t k = 0; k < lanes; ++k) sum += parts[k];
  return sum;
}

template <typename T>
HWY_INLINE double exp_sum_integers(const PowersOfE& powers, const T* x, T largest, int64_t count) {
  using U = std::make_unsigned_t<T>;
  constexpr U kLast = PowersOfE::kCount - 1;
  const DoubleTag d;
  const hn::Rebind<T, DoubleTag> dx;
  const hn::RebindToUnsigned<decltype(dx)> du;
  const hn::RebindToSigned<DoubleTag> places;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto from = hn::Set(du, static_cast<U>(largest)), most = hn::Set(du, kLast);
#if HWY_MAX_BYTES == 64 && !HWY_HAVE_SCALABLE  // as many lanes as a power of either part has
  const DoubleVec ones = hn::LoadU(d, powers.ones.data()), eights = hn::LoadU(d, powers.eights.data());
  const auto power_of = [=](hn::Vec<decltype(places)> place) HWY_ATTR {
    const auto one = hn::And(place, hn::Set(places, 7)), eight = hn::ShiftRight<3>(place);
    return hn::Mul(hn::TableLookupLanes(ones, hn::IndicesFromVec(d, one)), hn::TableLookupLanes(eights, hn::IndicesFromVec(d, eight)));
  };
#else
  const auto power_of = [=, table = powers.ones.data()](hn::Vec<decltype(places)> place)
                            HWY_ATTR { return hn::GatherIndex(d, table, place); };
#endif
  const auto powers_of = [=](const T* at) HWY_ATTR {
    const auto below = hn::BitCast(dx, hn::Min(hn::Sub(from, hn::BitCast(du, hn::LoadU(dx, at))), most));
    if constexpr (sizeof(T) == sizeof(double)) {
      return power_of(below);
    } else {
      return power_of(hn::PromoteTo(places, below));
    }
  };
  DoubleVec a = hn::Zero(d), b = a;
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Add(a, powers_of(x + i));
    b = hn::Add(b, powers_of(x + i + lanes));
  }
  HWY_ALIGN double parts[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(hn::Add(a, b), d, parts);
  double sum = 0;
  for (int64_t k = 0; k < lanes; ++k) sum += parts[k];
  for (; i < count; ++i) sum += powers.ones[std::min(static_cast<U>(static_cast<U>(largest) - static_cast<U>(x[i])), kLast)];
  return sum;
}
double exp_sum_longs(const PowersOfE& powers, const int64_t* x, int64_t largest, int64_t count) {
  return exp_sum_integers(powers, x, largest, count);
}
double exp_sum_ints(const PowersOfE& powers, const int32_t* x, int32_t largest, int64_t count) {
  return exp_sum_integers(powers, x, largest, count);
}

template <typename T>
HWY_INLINE int64_t find_typed(const T* x, int64_t count, T value, bool last) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto wanted = hn::Set(d, value);
  if (!last) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      if (const intptr_t at = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, x + i), wanted)); at >= 0) return i + at;
    }
    for (; i < count; ++i)
      if (x[i] == value) return i;
    return -1;
  }
  int64_t end = count;
  for (; end >= lanes; end -= lanes)
    if (!hn::AllFalse(d, hn::Eq(hn::LoadU(d, x + end - lanes), wanted))) break;
  for (int64_t i = end; i-- > 0;)
    if (x[i] == value) return i;
  return -1;
}
int64_t find_double(const double* x, int64_t count, double value, bool last) { return find_typed(x, count, value, last); }
int64_t find_long(const int64_t* x, int64_t count, int64_t value, bool last) { return find_typed(x, count, value, last); }
int64_t find_int(const int32_t* x, int64_t count, int32_t value, bool last) { return find_typed(x, count, value, last); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(fold_doubles);
HWY_EXPORT(fold_longs);
HWY_EXPORT(fold_ints);
HWY_EXPORT(fold_down_doubles);
HWY_EXPORT(fold_down_longs);
HWY_EXPORT(fold_down_ints);
HWY_EXPORT(extremes_down_loop);
HWY_EXPORT(exp_sum_doubles);
HWY_EXPORT(exp_sum_longs);
HWY_EXPORT(exp_sum_ints);
HWY_EXPORT(find_double);
HWY_EXPORT(find_long);
HWY_EXPORT(find_int);

namespace {

const PowersOfE& powers_of_e() {
  static constinit ForkOnce<const PowersOfE> powers;
  return powers.get([] {
    PowersOfE made;
    for (size_t i = 0; i < made.ones.size(); ++i) made.ones[i] = std::exp(-static_cast<double>(i));
    for (size_t i = 0; i < made.eights.size(); ++i) made.eights[i] = made.ones[8 * i];
    return made;
  });
}

}  // namespace

void fold_rows(Fold op, const double* x, int64_t rows, int64_t length, double* results) {
  HWY_DYNAMIC_DISPATCH(fold_doubles)(op, x, rows, length, results);
}
void fold_rows(Fold op, const int64_t* x, int64_t rows, int64_t length, int64_t* results) {
  HWY_DYNAMIC_DISPATCH(fold_longs)(op, x, rows, length, results);
}
void fold_rows(Fold op, const int32_t* x, int64_t rows, int64_t length, int64_t* results) {
  HWY_DYNAMIC_DISPATCH(fold_ints)(op, x, rows, length, results);
}
void fold_down(Fold op, const double* x, int64_t stride, int64_t rows, double* results, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(fold_down_doubles)(op, x, stride, rows, results, columns);
}
void fold_down(Fold op, const int64_t* x, int64_t stride, int64_t rows, int64_t* results, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(fold_down_longs)(op, x, stride, rows, results, columns);
}
void fold_down(Fold op, const int32_t* x, int64_t stride, int64_t rows, int32_t* results, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(fold_down_ints)(op, x, stride, rows, results, columns);
}
bool find_extremes_down(const double* x, int64_t stride, int64_t rows, bool largest, bool last, int64_t* places, int64_t columns) {
  return HWY_DYNAMIC_DISPATCH(extremes_down_loop)(x, stride, rows, largest, last, places, columns);
}
double exp_sum_row(const double* x, double largest, int64_t count) { return HWY_DYNAMIC_DISPATCH(exp_sum_doubles)(x, largest, count); }
double exp_sum_row(const int64_t* x, int64_t largest, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(exp_sum_longs)(powers_of_e(), x, largest, count);
}
double exp_sum_row(const int32_t* x, int32_t largest, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(exp_sum_ints)(powers_of_e(), x, largest, count);
}
int64_t find_equal(const double* x, int64_t count, double value, bool last) {
  return HWY_DYNAMIC_DISPATCH(find_double)(x, count, value, last);
}
int64_t find_equal(const int64_t* x, int64_t count, int64_t value, bool last) {
  return HWY_DYNAMIC_DISPATCH(find_long)(x, count, value, last);
}
int64_t find_equal(const int32_t* x, int64_t count, int32_t value, bool last) {
  return HWY_DYNAMIC_DISPATCH(find_int)(x, count, value, last);
}

}  // namespace rh::compute
#endif
