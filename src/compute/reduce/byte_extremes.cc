#include "compute/reduce/byte_extremes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/reduce/byte_extremes.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct LargestByte {
  template <typename V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Max(a, b);
  }
  template <typename T>
  static T number(T a, T b) {
    return a > b ? a : b;
  }
  template <typename T>
  static constexpr T kStart = std::numeric_limits<T>::lowest();
};

struct SmallestByte {
  template <typename V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Min(a, b);
  }
  template <typename T>
  static T number(T a, T b) {
    return a < b ? a : b;
  }
  template <typename T>
  static constexpr T kStart = std::numeric_limits<T>::max();
};

template <typename Op, typename T>
HWY_INLINE void extremes_down_plainly(const T* x, int64_t stride, int64_t rows, int64_t columns, T* best) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t c = 0; c < columns; ++c) best[c] = Op::number(best[c], x[row * stride + c]);
  }
}

#if HWY_TARGET == HWY_SCALAR

template <typename Op, typename T>
void extremes_of_rows_as(const T* x, T* y, int64_t rows, int64_t length) {
  for (int64_t row = 0; row < rows; ++row) {
    y[row] = x[row * length];
    for (int64_t i = 1; i < length; ++i) y[row] = Op::number(y[row], x[row * length + i]);
  }
}

template <typename Op, typename T>
void extremes_down_as(const T* x, int64_t stride, int64_t rows, int64_t columns, T* best) {
  extremes_down_plainly<Op>(x, stride, rows, columns, best);
}

#else

/// Sixteen bytes, what a row becomes before rows are put together.
template <typename T>
using SixteenTag = hn::FixedTag<T, 16>;
template <typename T>
using Sixteen = hn::Vec<SixteenTag<T> >;

/// Halves upon each other until sixteen bytes are left.
template <typename Op, typename D>
HWY_INLINE Sixteen<hn::TFromD<D> > folded_to_sixteen(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) <= 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return folded_to_sixteen<Op>(half, Op::of(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// Of a vector's bytes or more. The last vector takes some a second time.
template <typename Op, typename D, typename T = hn::TFromD<D> >
HWY_INLINE Sixteen<T> folded_row(D d, const T* x, int64_t length) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a = hn::LoadU(d, x);
  int64_t i = lanes;
  if (length >= 8 * lanes) {
    auto b = hn::LoadU(d, x + lanes), c = hn::LoadU(d, x + 2 * lanes), e = hn::LoadU(d, x + 3 * lanes);
    for (i = 4 * lanes; i + 4 * lanes <= length; i += 4 * lanes) {
      a = Op::of(a, hn::LoadU(d, x + i));
      b = Op::of(b, hn::LoadU(d, x + i + lanes));
      c = Op::of(c, hn::LoadU(d, x + i + 2 * lanes));
      e = Op::of(e, hn::LoadU(d, x + i + 3 * lanes));
    }
    a = Op::of(Op::of(a, b), Op::of(c, e));
  }
  for (; i + lanes < length; i += lanes) a = Op::of(a, hn::LoadU(d, x + i));
  return folded_to_sixteen<Op>(d, Op::of(a, hn::LoadU(d, x + length - lanes)));
}

/// Of fewer bytes than sixteen, of which `readable` are a tensor's.
template <typename Op, typename T, typename M>
HWY_INLINE Sixteen<T> short_row(const T* x, int64_t length, int64_t readable, M mask) {
  const SixteenTag<T> d;
  const auto start = hn::Set(d, Op::template kStart<T>);
  if (HWY_LIKELY(readable >= 16)) return hn::IfThenElse(mask, hn::LoadU(d, x), start);
  HWY_ALIGN T lanes[16];
  hn::Store(start, d, lanes);
  std::memcpy(lanes, x, static_cast<size_t>(length));
  return hn::Load(d, lanes);
}

template <typename Op, typename T>
HWY_INLINE T extreme_of_sixteen(Sixteen<T> v) {
  const SixteenTag<T> d;
  v = Op::of(v, hn::ShiftRightBytes<8>(d, v));
  v = Op::of(v, hn::ShiftRightBytes<4>(d, v));
  v = Op::of(v, hn::ShiftRightBytes<2>(d, v));
  return hn::GetLane(Op::of(v, hn::ShiftRightBytes<1>(d, v)));
}

/// The extremes of sixteen rows of sixteen bytes: each step interleaves two of them and folds halves, so row i ends in lane i.
template <typename Op, typename T>
HWY_INLINE Sixteen<T> extremes_of_sixteen_rows(T* folded) {
  const SixteenTag<T> d;
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      const auto a = hn::Load(d, folded + i * 16), b = hn::Load(d, folded + (i + half) * 16);
      hn::Store(Op::of(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)), d, folded + i * 16);
    }
  }
  return hn::Load(d, folded);
}

/// y[row] of what row_of(row) folds to.
template <typename Op, typename T, typename F>
HWY_INLINE void extremes_of_folded(T* y, int64_t rows, F row_of) {
  constexpr int64_t kAtOnce = 16, kFew = 4;
  const SixteenTag<T> d;
  HWY_ALIGN T folded[16 * kAtOnce] = {};
  int64_t row = 0;
  for (; row + kFew < rows; row += kAtOnce) {
    const int64_t count = HWY_MIN(kAtOnce, rows - row);
    for (int64_t i = 0; i < count; ++i) hn::Store(row_of(row + i), d, folded + i * 16);
    const auto extremes = extremes_of_sixteen_rows<Op>(folded);
    if (HWY_LIKELY(count == kAtOnce)) {
      hn::StoreU(extremes, d, y + row);
    } else {
      HWY_ALIGN T last[16];
      hn::Store(extremes, d, last);
      std::memcpy(y + row, last, static_cast<size_t>(count));
    }
  }
  for (; row < rows; ++row) y[row] = extreme_of_sixteen<Op, T>(row_of(row));
}

template <typename Op, typename T>
HWY_NOINLINE void extremes_of_rows_as(const T* x, T* y, int64_t rows, int64_t length) {
  const hn::ScalableTag<T> d;
  const SixteenTag<T> sixteen;
  if (length == 1) {
    std::memcpy(y, x, static_cast<size_t>(rows));
  } else if (length < 16) {
    const auto mask = hn::FirstN(sixteen, static_cast<size_t>(length));
    extremes_of_folded<Op>(y, rows,
                           [=](int64_t row) HWY_ATTR { return short_row<Op>(x + row * length, length, (rows - row) * length, mask); });
  } else if (length < static_cast<int64_t>(hn::Lanes(d))) {
    extremes_of_folded<Op>(y, rows, [=](int64_t row) HWY_ATTR { return folded_row<Op>(sixteen, x + row * length, length); });
  } else {
    extremes_of_folded<Op>(y, rows, [=](int64_t row) HWY_ATTR { return folded_row<Op>(d, x + row * length, length); });
  }
}

/// One vector of columns, in two parts, which join the best.
template <typename Op, typename D, typename T = hn::TFromD<D> >
HWY_INLINE void extremes_down_vector(D d, const T* x, int64_t stride, int64_t rows, T* best) {
  auto a = hn::LoadU(d, best), b = a;
  int64_t row = 0;
  for (; row + 2 <= rows; row += 2) {
    a = Op::of(a, hn::LoadU(d, x + row * stride));
    b = Op::of(b, hn::LoadU(d, x + (row + 1) * stride));
  }
  if (row < rows) a = Op::of(a, hn::LoadU(d, x + row * stride));
  hn::StoreU(Op::of(a, b), d, best);
}

/// All columns, a vector of them at least. The last vector takes some a second time.
template <typename Op, typename D, typename T = hn::TFromD<D> >
HWY_INLINE void extremes_down_vectors(D d, const T* x, int64_t stride, int64_t rows, int64_t columns, T* best) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + 4 * lanes <= columns; c += 4 * lanes) {
    auto a = hn::LoadU(d, best + c), b = hn::LoadU(d, best + c + lanes);
    auto e = hn::LoadU(d, best + c + 2 * lanes), f = hn::LoadU(d, best + c + 3 * lanes);
    for (int64_t row = 0; row < rows; ++row) {
      const T* const at = x + row * stride + c;
      a = Op::of(a, hn::LoadU(d, at));
      b = Op::of(b, hn::LoadU(d, at + lanes));
      e = Op::of(e, hn::LoadU(d, at + 2 * lanes));
      f = Op::of(f, hn::LoadU(d, at + 3 * lanes));
    }
    hn::StoreU(a, d, best + c);
    hn::StoreU(b, d, best + c + lanes);
    hn::StoreU(e, d, best + c + 2 * lanes);
    hn::StoreU(f, d, best + c + 3 * lanes);
  }
  for (; c + lanes < columns; c += lanes) extremes_down_vector<Op>(d, x + c, stride, rows, best + c);
  if (c < columns) extremes_down_vector<Op>(d, x + columns - lanes, stride, rows, best + columns - lanes);
}

template <typename Op, typename T>
HWY_NOINLINE void extremes_down_as(const T* x, int64_t stride, int64_t rows, int64_t columns, T* best) {
  const hn::ScalableTag<T> d;
  if (columns >= static_cast<int64_t>(hn::Lanes(d))) return extremes_down_vectors<Op>(d, x, stride, rows, columns, best);
  if (columns >= 16) return extremes_down_vectors<Op>(SixteenTag<T>(), x, stride, rows, columns, best);
  if (columns >= 8) return extremes_down_vectors<Op>(hn::FixedTag<T, 8>(), x, stride, rows, columns, best);
  extremes_down_plainly<Op>(x, stride, rows, columns, best);
}

#endif

/// A few columns of rows that follow each other: sixteen rows count as one, and what they give is folded.
template <typename Op, typename T>
HWY_NOINLINE void extremes_of_few_columns(const T* x, int64_t rows, int64_t columns, T* best) {
  constexpr int64_t kTogether = 16;
  T wide[kTogether * 16];
  std::fill_n(wide, kTogether * columns, Op::template kStart<T>);
  const int64_t whole = rows / kTogether;
  extremes_down_as<Op>(x, kTogether * columns, whole, kTogether * columns, wide);
  extremes_down_as<Op>(wide, columns, kTogether, columns, best);
  extremes_down_as<Op>(x + whole * kTogether * columns, columns, rows % kTogether, columns, best);
}

template <typename T>
void byte_rows_loop(bool largest, const T* x, T* y, int64_t rows, int64_t length) {
  largest ? extremes_of_rows_as<LargestByte>(x, y, rows, length) : extremes_of_rows_as<SmallestByte>(x, y, rows, length);
}

template <typename T>
void bytes_down_loop(bool largest, const T* x, int64_t stride, int64_t rows, int64_t columns, T* best) {
  constexpr int64_t kFewColumns = 16, kManyRows = 64;
  if (columns < kFewColumns && stride == columns && rows >= kManyRows) {
    largest ? extremes_of_few_columns<LargestByte>(x, rows, columns, best) : extremes_of_few_columns<SmallestByte>(x, rows, columns, best);
  } else {
    largest ? extremes_down_as<LargestByte>(x, stride, rows, columns, best)
            : extremes_down_as<SmallestByte>(x, stride, rows, columns, best);
  }
}

void unsigned_byte_rows(bool largest, const uint8_t* x, uint8_t* y, int64_t rows, int64_t length) {
  byte_rows_loop(largest, x, y, rows, length);
}

void signed_byte_rows(bool largest, const int8_t* x, int8_t* y, int64_t rows, int64_t length) {
  byte_rows_loop(largest, x, y, rows, length);
}

void unsigned_bytes_down(bool largest, const uint8_t* x, int64_t stride, int64_t rows, int64_t columns, uint8_t* best) {
  bytes_down_loop(largest, x, stride, rows, columns, best);
}

void signed_bytes_down(bool largest, const int8_t* x, int64_t stride, int64_t rows, int64_t columns, int8_t* best) {
  bytes_down_loop(largest, x, stride, rows, columns, best);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(unsigned_byte_rows);
HWY_EXPORT(signed_byte_rows);
HWY_EXPORT(unsigned_bytes_down);
HWY_EXPORT(signed_bytes_down);

void extremes_of_byte_rows(bool largest, const uint8_t* x, uint8_t* y, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(unsigned_byte_rows)(largest, x, y, rows, length);
}

void extremes_of_byte_rows(bool largest, const int8_t* x, int8_t* y, int64_t rows, int64_t length) {
  HWY_DYNAMIC_DISPATCH(signed_byte_rows)(largest, x, y, rows, length);
}

void extremes_of_bytes_down(bool largest, const uint8_t* x, int64_t stride, int64_t rows, int64_t columns, uint8_t* best) {
  HWY_DYNAMIC_DISPATCH(unsigned_bytes_down)(largest, x, stride, rows, columns, best);
}

void extremes_of_bytes_down(bool largest, const int8_t* x, int64_t stride, int64_t rows, int64_t columns, int8_t* best) {
  HWY_DYNAMIC_DISPATCH(signed_bytes_down)(largest, x, stride, rows, columns, best);
}

int64_t find_byte(const void* x, int64_t count, uint8_t value, bool last) {
  const auto* bytes = static_cast<const uint8_t*>(x);
  if (!last) return static_cast<const uint8_t*>(std::memchr(bytes, value, static_cast<size_t>(count))) - bytes;
  int64_t i = count - 1;
  while (i > 0 && bytes[i] != value) --i;
  return i;
}

}  // namespace rh::compute
#endif
