#include "compute/image/pool_rows.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/image/pool_rows.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/image/pool_fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// Whether a NaN or an infinity is among them.
HWY_INLINE bool has_odd_value(const float* x, int64_t count) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Vec zero = set(0.0f);
  Vec s0 = zero, s1 = zero, s2 = zero, s3 = zero;
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + i), zero, s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + i + lanes), zero, s1);
    s2 = hn::MulAdd(hn::LoadU(d, x + i + 2 * lanes), zero, s2);
    s3 = hn::MulAdd(hn::LoadU(d, x + i + 3 * lanes), zero, s3);
  }
  for (; i < count; i += lanes) s0 = hn::MulAdd(load_some(x + i, static_cast<size_t>(HWY_MIN(lanes, count - i))), zero, s0);
  return !hn::AllFalse(d, is_nan(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

/// `live` neighbouring columns, folded over the window's rows.
template <Fold kFold>
HWY_INLINE Vec folded(const PoolRow& p, int64_t column, size_t live) {
  const Floats d;
  const bool whole = live == hn::Lanes(d);
  const float* from = p.x + column;
  Vec v = whole ? hn::LoadU(d, from) : load_some(from, live);
  for (int64_t i = 1; i < p.rows; ++i) {
    from += p.row_step;
    v = folded_with<kFold>(v, whole ? hn::LoadU(d, from) : load_some(from, live));
  }
  return v;
}

/// Folds the window's rows and puts the columns where they belong.
template <Fold kFold>
HWY_INLINE void fold_rows(const PoolRow& p) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  const auto live = [&](int64_t column) {
    const int64_t left = p.width - column;
    return static_cast<size_t>(left < 0 ? 0 : HWY_MIN(lanes, left));
  };
  if (p.stride == 1) {
    for (int64_t c = 0; c < p.width; c += lanes) store_some(folded<kFold>(p, c, live(c)), p.even + p.pad + c, live(c));
    return;
  }
  // Padded columns of one parity are those of the plane, or of the other one.
  float* first = p.pad % 2 == 0 ? p.even + p.pad / 2 : p.odd + p.pad / 2;
  float* second = p.pad % 2 == 0 ? p.odd + p.pad / 2 : p.even + (p.pad + 1) / 2;
#if HWY_TARGET == HWY_SCALAR
  for (int64_t c = 0; c < p.width; ++c) store_some(folded<kFold>(p, c, 1), (c % 2 == 0 ? first : second) + c / 2, 1);
#else
  const Floats d;
  for (int64_t c = 0; c < p.width; c += 2 * lanes) {
    const size_t in_low = live(c), in_high = live(c + lanes), both = in_low + in_high;
    const Vec low = folded<kFold>(p, c, in_low), high = in_high == 0 ? low : folded<kFold>(p, c + lanes, in_high);
    store_some(hn::ConcatEven(d, high, low), first + c / 2, (both + 1) / 2);
    store_some(hn::ConcatOdd(d, high, low), second + c / 2, both / 2);
  }
#endif
}

/// Where the columns of the window's position k begin.
HWY_INLINE const float* phase(const PoolRow& p, int64_t k) {
  const int64_t shift = k * p.dilation;
  return p.stride == 1 ? p.even + shift : (shift % 2 == 0 ? p.even : p.odd) + shift / 2;
}

template <Fold kFold>
HWY_INLINE void pool_folded(const PoolRow& p) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < p.outputs; i += lanes) {
    // Whole vectors are read: both arrays have room for one more.
    Vec v = hn::LoadU(d, phase(p, 0) + i);
    for (int64_t k = 1; k < p.kernel; ++k) v = folded_with<kFold>(v, hn::LoadU(d, phase(p, k) + i));
    const size_t live = static_cast<size_t>(HWY_MIN(lanes, p.outputs - i));
    if (live == static_cast<size_t>(lanes)) {
      hn::StoreU(p.factors ? hn::Mul(v, hn::LoadU(d, p.factors + i)) : v, d, p.y + i);
    } else {
      store_some(p.factors ? hn::Mul(v, load_some(p.factors + i, live)) : v, p.y + i, live);
    }
  }
}

void fold_rows_loop(const PoolRow& row) {
  if (row.sums) return fold_rows<Fold::sum>(row);
  row.numbers ? fold_rows<Fold::largest_of_numbers>(row) : fold_rows<Fold::largest>(row);
}
void pool_folded_loop(const PoolRow& row) {
  if (row.sums) return pool_folded<Fold::sum>(row);
  row.numbers ? pool_folded<Fold::largest_of_numbers>(row) : pool_folded<Fold::largest>(row);
}
bool are_numbers_loop(const float* x, int64_t count) { return !has_odd_value(x, count); }

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
/// Which of the columns from `first` on lie in the plane.
HWY_INLINE Mask columns_in(int64_t first, int64_t width) {
  const Ints di;
  const auto column = hn::Add(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(first)));
  const auto in = hn::And(hn::Gt(column, hn::Set(di, -1)), hn::Lt(column, hn::Set(di, static_cast<int32_t>(width))));
  return hn::RebindMask(Floats(), in);
}

/// What all rows of a vector of outputs have in common. A side of the window that is known when this is compiled, or 0.
template <Fold kFold, bool kTwo, bool kWhole, int kHeight, int kWidth>
struct Columns {
  static constexpr Fold kFoldOf = kFold;
  const PoolPlane& p;
  int64_t at;                                        ///< the first output
  Mask low0, low1, low2, high0, high1, high2;        ///< of the first taps, unless kWhole
  Mask low_rest[kPlaneTaps], high_rest[kPlaneTaps];  ///< of the others

  HWY_INLINE Columns(const PoolPlane& plane, int64_t first_output) : p(plane), at(first_output) {
    if constexpr (!kWhole) {
      const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
      low0 = columns_in(column_of(0), p.width);
      low1 = columns_in(column_of(1), p.width);
      low2 = columns_in(column_of(2), p.width);
      high0 = columns_in(column_of(0) + lanes, p.width);
      high1 = columns_in(column_of(1) + lanes, p.width);
      high2 = columns_in(column_of(2) + lanes, p.width);
      for (int64_t tap = 3; tap < p.kernel_width; ++tap) {
        low_rest[tap] = columns_in(column_of(tap), p.width);
        high_rest[tap] = columns_in(column_of(tap) + lanes, p.width);
      }
    }
  }

  // Values rather than elements of an array, which compilers would read from memory every time.
  HWY_INLINE Mask low(int64_t tap) const { return tap == 0 ? low0 : tap == 1 ? low1 : tap == 2 ? low2 : low_rest[tap]; }
  HWY_INLINE Mask high(int64_t tap) const { return tap == 0 ? high0 : tap == 1 ? high1 : tap == 2 ? high2 : high_rest[tap]; }

  HWY_INLINE int64_t column_of(int64_t tap) const { return at * (kTwo ? 2 : 1) + tap * p.dilation_width - p.pad_left; }
  static HWY_INLINE Vec start() { return kFold == Fold::sum ? set(0.0f) : hn::Neg(hn::Inf(Floats())); }

  static HWY_INLINE Vec read(const float* from, const Mask& mask) {
    if constexpr (kWhole) return hn::LoadU(Floats(), from);
    const Vec v = hn::MaskedLoad(mask, Floats(), from);
    return kFold == Fold::sum ? v : hn::IfThenElse(mask, v, start());
  }

  /// Some columns over kHeight rows.
  HWY_INLINE Vec column(const float* x, const Mask& mask) const {
    const int64_t row = p.dilation_height * p.width;
    const Vec v = folded_with<kFold>(read(x, mask), read(x + row, mask));
    return kHeight == 2 ? v : folded_with<kFold>(v, read(x + 2 * row, mask));
  }

  /// The window of kHeight by kWidth whose first row is at `x`; written out, since compilers do not unroll loops around masks.
  HWY_INLINE Vec whole_window(const float* x) const {
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const float* from = x + column_of(0);
    const Vec first = column(from, low0);
    if constexpr (!kTwo) {
      const Vec two = folded_with<kFold>(first, column(from + 1, low1));
      return kWidth == 2 ? two : folded_with<kFold>(two, column(from + 2, low2));
    }
    const Vec next = column(from + lanes, high0), two = folded_with<kFold>(hn::ConcatEven(d, next, first), hn::ConcatOdd(d, next, first));
    if constexpr (kWidth == 2) return two;
    return folded_with<kFold>(two, hn::ConcatOdd(d, column(from + 1 + lanes, high1), column(from + 1, low1)));
  }

  /// What windows of 3 by 3 and stride 2 take of one row, or of rows that were folded.
  struct RowPart {
    Vec low0, high0, low1, high1;
  };
  HWY_INLINE RowPart row_part(const float* x) const {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    const float* from = x + column_of(0);
    return {read(from, low0), read(from + lanes, high0), read(from + 1, low1), read(from + 1 + lanes, high1)};
  }
  static HWY_INLINE RowPart folded_parts(const RowPart& a, const RowPart& b) {
    return {folded_with<kFold>(a.low0, b.low0), folded_with<kFold>(a.high0, b.high0), folded_with<kFold>(a.low1, b.low1),
            folded_with<kFold>(a.high1, b.high1)};
  }
  static HWY_INLINE Vec along(const RowPart& p) {
    const Floats d;
    const Vec two = folded_with<kFold>(hn::ConcatEven(d, p.high0, p.low0), hn::ConcatOdd(d, p.high0, p.low0));
    return folded_with<kFold>(two, hn::ConcatOdd(d, p.high1, p.low1));
  }

  /// What the window takes of one row of the plane.
  HWY_INLINE Vec along_row(const float* x) const {
    if constexpr (kTwo || kWidth != 3) return window(x, 1);
    const float* from = x + column_of(0);
    return folded_with<kFold>(folded_with<kFold>(read(from, low0), read(from + 1, low1)), read(from + 2, low2));
  }

  /// Any window: `rows` of its rows lie inside the plane, the first one at `x`.
  HWY_INLINE Vec window(const float* x, int64_t rows) const {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats())), row_step = p.dilation_height * p.width;
    // With stride 2 and no dilation one pair of vectors serves two taps.
    const bool pairs = kTwo && p.dilation_width == 1;
    Vec all = start();
    for (int64_t tap = 0; tap < p.kernel_width; tap += pairs ? 2 : 1) {
      // The last tap of an odd number as the second one of a pair: nothing is read beyond it.
      const bool is_second = pairs && tap > 0 && tap + 1 == p.kernel_width;
      const int64_t first = is_second ? tap - 1 : tap;
      const float* from = x + column_of(first);
      Vec a = start(), b = start();
      for (int64_t k = 0; k < rows; ++k, from += row_step) {
        a = folded_with<kFold>(a, read(from, low(first)));
        if constexpr (kTwo) b = folded_with<kFold>(b, read(from + lanes, high(first)));
      }
      if (!is_second) all = folded_with<kFold>(all, kTwo ? hn::ConcatEven(Floats(), b, a) : a);
      if (pairs && (is_second || tap + 1 < p.kernel_width)) all = folded_with<kFold>(all, hn::ConcatOdd(Floats(), b, a));
    }
    return all;
  }
};

/// A vector of outputs of every row, from windows that are one row apart: a row of the plane is folded along the window once, then 3 or 5
/// such rows down.
template <int kHeight, typename SomeColumns, typename Store>
HWY_INLINE void slide_down(const SomeColumns& columns, const float* x, const Store& store) {
  static_assert(kHeight == 3 || kHeight == 5);
  constexpr Fold kFold = SomeColumns::kFoldOf;
  const PoolPlane& p = columns.p;
  const auto along = [&](int64_t row)
                         HWY_ATTR { return row < 0 || row >= p.height ? columns.start() : columns.along_row(x + row * p.width); };
  const int64_t top = -p.pad_top;
  Vec a = columns.start(), b = a, c = a, d = a;
  if constexpr (kHeight == 5) a = along(top), b = along(top + 1);
  c = along(top + kHeight - 3);
  d = along(top + kHeight - 2);
  for (int64_t row = 0; row < p.out_height; ++row) {
    const Vec e = along(top + row + kHeight - 1), last = folded_with<kFold>(folded_with<kFold>(c, d), e);
    store(row, kHeight == 3 ? last : folded_with<kFold>(folded_with<kFold>(a, b), last));
    a = b, b = c, c = d, d = e;
  }
}

/// A vector of outputs of every row; kWhole where no column is missing.
template <Fold kFold, bool kTwo, bool kWhole, int kHeight, int kWidth>
HWY_INLINE void pool_columns(const PoolPlane& p, const float* x, float* y, int64_t at) {
  const Floats d;
  const size_t lanes = hn::Lanes(d), live = HWY_MIN(lanes, static_cast<size_t>(p.out_width - at));
  const Columns<kFold, kTwo, kWhole, kHeight, kWidth> columns(p, at);
  const Vec factor = p.column_factors ? load_some(p.column_factors + at, live) : set(1.0f);
  const auto store = [&](int64_t row, Vec all) HWY_ATTR {
    if (p.row_factors) all = hn::Mul(all, hn::Mul(set(p.row_factors[row]), factor));
    float* to = y + row * p.out_width + at;
    if (live == lanes)
      hn::StoreU(all, d, to);
    else
      store_some(all, to, live);
  };
  if constexpr (!kTwo && kHeight == 0) {
    if (slides_down(p)) return p.kernel_height == 3 ? slide_down<3>(columns, x, store) : slide_down<5>(columns, x, store);
  }
  if constexpr (!kTwo && kHeight == 3) {
    if (slides_down(p)) return slide_down<3>(columns, x, store);
  }
  const int64_t dilation = p.dilation_height, reach = (p.kernel_height - 1) * dilation;
  for (int64_t row = 0; row < p.out_height; ++row) {
    const int64_t top = row * p.stride_height - p.pad_top;
    if (top < 0 || top + reach >= p.height) {
      const int64_t first = top >= 0 ? 0 : (-top + dilation - 1) / dilation;
      const int64_t last = HWY_MIN(p.kernel_height, (p.height - top + dilation - 1) / dilation);
      store(row, last > first ? columns.window(x + (top + first * dilation) * p.width, last - first) : columns.start());
      continue;
    }
    if constexpr (kHeight == 3 && kTwo) {
      if (p.stride_height == 2 && dilation == 1) {  // rows that windows share are read once
        auto shared = columns.row_part(x + top * p.width);
        const int64_t last = HWY_MIN(p.out_height, (p.height - 3 + p.pad_top) / 2 + 1);
        for (; row < last; ++row) {
          const float* next = x + (row * 2 - p.pad_top + 1) * p.width;
          const auto above = columns.folded_parts(shared, columns.row_part(next));
          shared = columns.row_part(next + p.width);
          store(row, columns.along(columns.folded_parts(above, shared)));
        }
        --row;
        continue;
      }
    }
    if constexpr (kHeight != 0)
      store(row, columns.whole_window(x + top * p.width));
    else
      store(row, columns.window(x + top * p.width, p.kernel_height));
  }
}

template <Fold kFold, bool kTwo, int kHeight, int kWidth>
HWY_INLINE void pool_blocks(const PoolPlane& p, const float* x, float* y) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats())), stride = kTwo ? 2 : 1;
  const bool pairs = kTwo && p.dilation_width == 1;
  const int64_t last_tap = pairs ? HWY_MAX(int64_t{0}, p.kernel_width - 2) : (p.kernel_width - 1) * p.dilation_width;
  for (int64_t next = 0; next < p.out_width; next += lanes) {
    // The last vector takes some outputs a second time rather than few.
    const int64_t at = p.out_width < lanes ? next : HWY_MIN(next, p.out_width - lanes);
    const int64_t begin = at * stride - p.pad_left, end = begin + last_tap + lanes * stride;
    if (begin >= 0 && end <= p.width)
      pool_columns<kFold, kTwo, true, kHeight, kWidth>(p, x, y, at);
    else
      pool_columns<kFold, kTwo, false, kHeight, kWidth>(p, x, y, at);
  }
}

template <Fold kFold, bool kTwo>
HWY_INLINE void pool_kernels(const PoolPlane& p, const float* x, float* y) {
  const bool is_plain = p.dilation_width == 1 && p.kernel_height == p.kernel_width;
  if (is_plain && p.kernel_width == 2) return pool_blocks<kFold, kTwo, 2, 2>(p, x, y);
  if (is_plain && p.kernel_width == 3) return pool_blocks<kFold, kTwo, 3, 3>(p, x, y);
  pool_blocks<kFold, kTwo, 0, 0>(p, x, y);
}

template <Fold kFold>
HWY_INLINE void pool_any(const PoolPlane& p, const float* x, float* y) {
  p.stride_width == 2 ? pool_kernels<kFold, true>(p, x, y) : pool_kernels<kFold, false>(p, x, y);
}

bool pool_plane_loop(const PoolPlane& p, const float* x, float* y) {
  if (p.sums) {
    pool_any<Fold::sum>(p, x, y);
  } else if (has_odd_value(x, p.height * p.width)) {
    pool_any<Fold::largest>(p, x, y);
  } else {
    pool_any<Fold::largest_of_numbers>(p, x, y);
  }
  return true;
}
#else
bool pool_plane_loop(const PoolPlane&, const float*, float*) { return false; }
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(fold_rows_loop);
HWY_EXPORT(pool_folded_loop);
HWY_EXPORT(are_numbers_loop);

HWY_EXPORT(pool_plane_loop);

bool pool_plane(const PoolPlane& plane, const float* x, float* y) { return HWY_DYNAMIC_DISPATCH(pool_plane_loop)(plane, x, y); }

bool are_numbers(const float* x, int64_t count) { return HWY_DYNAMIC_DISPATCH(are_numbers_loop)(x, count); }
void fold_pool_rows(const PoolRow& row) { HWY_DYNAMIC_DISPATCH(fold_rows_loop)(row); }
void pool_folded_row(const PoolRow& row) { HWY_DYNAMIC_DISPATCH(pool_folded_loop)(row); }

}  // namespace rh::compute
#endif
