#include "compute/reduce/prefix_sums.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/reduce/prefix_sums.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

[[maybe_unused]] constexpr int kDoubles = static_cast<int>(hn::MaxLanes(Doubles()));
using HalfFloats = hn::Rebind<float, Doubles>;

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128  // which keep no infinity where they make floats of doubles
/// Lanes moved up by 1, 2 and 4 with zeros below, and the last one everywhere.
struct Moves {
  using Indices = decltype(hn::SetTableIndices(Doubles(), static_cast<const int64_t*>(nullptr)));
  Indices one, two, four, end;

  static HWY_INLINE Indices moved(int64_t by) {
    HWY_ALIGN int64_t from[kDoubles];
    for (int64_t i = 0; i < kDoubles; ++i) from[i] = i < by ? 0 : i - by;
    return hn::SetTableIndices(Doubles(), from);
  }
  static HWY_INLINE Indices ends() {
    HWY_ALIGN int64_t from[kDoubles];
    for (int64_t& i : from) i = kDoubles - 1;
    return hn::SetTableIndices(Doubles(), from);
  }
  HWY_INLINE Moves() : one(moved(1)), two(moved(2)), four(moved(4)), end(ends()) {}

  static HWY_INLINE Wide up(Wide v, Indices indices, size_t by) {
    return hn::IfThenZeroElse(hn::FirstN(Doubles(), by), hn::TableLookupLanes(v, indices));
  }
  HWY_INLINE Wide up_one(Wide v) const { return up(v, one, 1); }
  HWY_INLINE Wide last(Wide v) const { return hn::TableLookupLanes(v, end); }
  HWY_INLINE Wide sums(Wide v) const {
    v = hn::Add(v, up(v, one, 1));
    if constexpr (kDoubles > 2) v = hn::Add(v, up(v, two, 2));
    if constexpr (kDoubles > 4) v = hn::Add(v, up(v, four, 4));
    return v;
  }
};
#endif

template <bool kExclusive, bool kReverse>
HWY_INLINE double prefix_row(const float* x, float* y, int64_t count, double before) {
  double total = before;
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const Doubles d;
  const HalfFloats narrow;
  const Moves moves;
  Wide carry = hn::Set(d, before);
  for (; i + kDoubles <= count; i += kDoubles) {
    const int64_t at = kReverse ? count - i - kDoubles : i;
    Wide v = hn::PromoteTo(d, hn::LoadU(narrow, x + at));
    if constexpr (kReverse) v = hn::Reverse(d, v);
    v = moves.sums(v);
    Wide sums = hn::Add(carry, kExclusive ? moves.up_one(v) : v);
    carry = hn::Add(carry, moves.last(v));
    if constexpr (kReverse) sums = hn::Reverse(d, sums);
    hn::StoreU(hn::DemoteTo(narrow, sums), narrow, y + at);
  }
  total = hn::GetLane(carry);
#endif
  for (; i < count; ++i) {
    const int64_t at = kReverse ? count - i - 1 : i;
    const double after = total + static_cast<double>(x[at]);
    y[at] = static_cast<float>(kExclusive ? total : after);
    total = after;
  }
  return total;
}

double prefix_loop(const float* x, float* y, int64_t count, double before, bool exclusive, bool reverse) {
  if (exclusive) return reverse ? prefix_row<true, true>(x, y, count, before) : prefix_row<true, false>(x, y, count, before);
  return reverse ? prefix_row<false, true>(x, y, count, before) : prefix_row<false, false>(x, y, count, before);
}

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
/// So few columns that their sums stay in registers: the last vector ends with the last column, and may have some of the one before.
template <bool kExclusive, int kVectors>
void prefix_down_few(const float* x, float* y, int64_t step, int64_t rows, int64_t columns, double* totals) {
  const Doubles d;
  const HalfFloats narrow;
  int64_t at[kVectors];
  Wide sums[kVectors], values[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    at[v] = v + 1 < kVectors ? v * kDoubles : columns - kDoubles;
    sums[v] = hn::LoadU(d, totals + at[v]);
  }
  for (int64_t row = 0; row < rows; ++row, x += step, y += step) {
    for (int v = 0; v < kVectors; ++v) values[v] = hn::PromoteTo(d, hn::LoadU(narrow, x + at[v]));
    for (int v = 0; v < kVectors; ++v) {
      const Wide after = hn::Add(sums[v], values[v]);
      hn::StoreU(hn::DemoteTo(narrow, kExclusive ? sums[v] : after), narrow, y + at[v]);
      sums[v] = after;
    }
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, totals + at[v]);
}
#endif

template <bool kExclusive>
void prefix_down(const float* x, float* y, int64_t step, int64_t rows, int64_t columns, double* totals) {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  if (columns >= kDoubles) {
    if (columns == kDoubles) return prefix_down_few<kExclusive, 1>(x, y, step, rows, columns, totals);
    if (columns <= 2 * kDoubles) return prefix_down_few<kExclusive, 2>(x, y, step, rows, columns, totals);
    if (columns <= 3 * kDoubles) return prefix_down_few<kExclusive, 3>(x, y, step, rows, columns, totals);
    if (columns <= 4 * kDoubles) return prefix_down_few<kExclusive, 4>(x, y, step, rows, columns, totals);
  }
#endif
  for (int64_t row = 0; row < rows; ++row, x += step, y += step) {
    int64_t c = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
    const Doubles d;
    const HalfFloats narrow;
    for (; c + kDoubles <= columns; c += kDoubles) {
      const Wide before = hn::LoadU(d, totals + c), after = hn::Add(before, hn::PromoteTo(d, hn::LoadU(narrow, x + c)));
      hn::StoreU(hn::DemoteTo(narrow, kExclusive ? before : after), narrow, y + c);
      hn::StoreU(after, d, totals + c);
    }
#endif
    for (; c < columns; ++c) {
      const double before = totals[c];
      totals[c] = before + static_cast<double>(x[c]);
      y[c] = static_cast<float>(kExclusive ? before : totals[c]);
    }
  }
}

void down_loop(const float* x, float* y, int64_t step, int64_t rows, int64_t columns, double* totals, bool exclusive) {
  (exclusive ? prefix_down<true> : prefix_down<false>)(x, y, step, rows, columns, totals);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(prefix_loop);
HWY_EXPORT(down_loop);

double prefix_sums(const float* x, float* y, int64_t count, double before, bool exclusive, bool reverse) {
  return HWY_DYNAMIC_DISPATCH(prefix_loop)(x, y, count, before, exclusive, reverse);
}

void prefix_sums_down(const float* x, float* y, int64_t step, int64_t rows, int64_t columns, double* totals, bool exclusive) {
  HWY_DYNAMIC_DISPATCH(down_loop)(x, y, step, rows, columns, totals, exclusive);
}

}  // namespace rh::compute
#endif
