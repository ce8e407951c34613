#include <algorithm>

#include "compute/conv_micro_body.h"
#include "compute/vector_avx512.h"

namespace rh::compute {
namespace {

// Two planes share a vector: one has lanes 0 to 7, the other 8 to 15. Rows stay in registers; a column of taps sees them shifted.
constexpr __mmask16 kSecond = 0xff00;

struct Pair {
  __mmask16 first, second;  // lanes that are there

  /// The second plane's row lies `apart` beyond the first one's.
  __m512 load(const float* row, int64_t apart) const {
    return _mm512_mask_loadu_ps(_mm512_maskz_loadu_ps(first, row), second, row + apart - 8);
  }
  void store(float* row, int64_t apart, __m512 value) const {
    _mm512_mask_storeu_ps(row, first, value);
    _mm512_mask_storeu_ps(row + apart - 8, second, value);
  }
};

inline __m512 of_two(float first, float second) { return _mm512_mask_broadcastss_ps(_mm512_set1_ps(first), kSecond, _mm_set_ss(second)); }

/// Lane i takes lane i + kShift of its own plane, zero where there is none.
template <int kShift>
inline __m512 shifted(__m512 row) {
  if constexpr (kShift == 0) return row;
  constexpr unsigned kLanes = kShift > 0 ? 0xffu >> (kShift > 0 ? kShift : 0) : 0xffu << (kShift < 0 ? -kShift : 0) & 0xffu;
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  return _mm512_maskz_permutexvar_ps(static_cast<__mmask16>(kLanes | kLanes << 8), _mm512_add_epi32(lane, _mm512_set1_epi32(kShift)), row);
}

/// Adds what one column of taps gives to the sums of all rows.
template <int kRows, int kTaps, int kColumn>
inline void add_column(const __m512 (&x)[kRows], const float* first, const float* second, __m512 (&sum)[kRows]) {
  __m512 weight[kTaps];
#pragma GCC unroll 8
  for (int t = 0; t < kTaps; ++t) weight[t] = of_two(first[t * kTaps + kColumn], second[t * kTaps + kColumn]);
#pragma GCC unroll 8
  for (int row = 0; row < kRows; ++row) {
    const __m512 value = shifted<kColumn - kTaps / 2>(x[row]);
#pragma GCC unroll 8
    for (int t = 0; t < kTaps; ++t) {
      const int to = row - t + kTaps / 2;
      if (to >= 0 && to < kRows) sum[to] = _mm512_fmadd_ps(weight[t], value, sum[to]);
    }
  }
}

template <int kRows, int kTaps>
void plane_pairs(const SmallPlanes& p) {
  const int64_t size = kRows * p.width;
  for (int64_t plane = 0; plane < p.planes; plane += 2) {
    const bool two = plane + 1 < p.planes;
    const int64_t other = two ? 1 : 0;
    const unsigned live = (1u << p.width) - 1;
    const Pair pair{static_cast<__mmask16>(live), static_cast<__mmask16>(two ? live << 8 : 0)};
    const float* from = p.x + plane * size;
    const float* first = p.weights + plane * kTaps * kTaps;
    const float* second = first + other * kTaps * kTaps;
    const __m512 start = p.bias ? of_two(p.bias[plane], p.bias[plane + other]) : _mm512_setzero_ps();
    __m512 x[kRows], sum[kRows];
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      x[row] = pair.load(from + row * p.width, other * size);
      sum[row] = start;
    }
    add_column<kRows, kTaps, 0>(x, first, second, sum);
    add_column<kRows, kTaps, 1>(x, first, second, sum);
    add_column<kRows, kTaps, 2>(x, first, second, sum);
    if constexpr (kTaps == 5) {
      add_column<kRows, kTaps, 3>(x, first, second, sum);
      add_column<kRows, kTaps, 4>(x, first, second, sum);
    }
    float* to = p.y + plane * size;
#pragma GCC unroll 8
    for (int row = 0; row < kRows; ++row) {
      const __m512 y = Float::min(Float::set(p.high), Float::max(Float::set(p.low), sum[row]));
      pair.store(to + row * p.width, other * size, y);
    }
  }
}

template <int kTaps>
void small_planes_of(const SmallPlanes& p) {
  switch (p.rows) {
    case 4: return plane_pairs<4, kTaps>(p);
    case 5: return plane_pairs<5, kTaps>(p);
    case 6: return plane_pairs<6, kTaps>(p);
    case 7: return plane_pairs<7, kTaps>(p);
    default: return plane_pairs<8, kTaps>(p);
  }
}

void small_planes(const SmallPlanes& p) { p.taps == 3 ? small_planes_of<3>(p) : small_planes_of<5>(p); }

/// Lanes i of a vector with begin <= i < end.
inline __mmask16 lanes_within(int64_t begin, int64_t end) {
  const auto clamped = [](int64_t x) { return static_cast<int>(std::max<int64_t>(0, std::min<int64_t>(x, 16))); };
  return static_cast<__mmask16>(((1u << clamped(end)) - 1) & (~0u << clamped(begin)));
}

alignas(64) constexpr float kNothing[kMostDirectReach + 64] = {};

/// Where the lines of x that a block reads have their first column; those beyond the plane are zeros.
template <int kLines>
struct Lines {
  const float* at[kLines];

  Lines(const DirectPlane& p, int64_t top) {
    const uint64_t height = static_cast<uint64_t>(p.height);
    const int64_t step = p.dilation, row = step * p.width, left = p.pad_left;
    const float* const x = p.x;
    int64_t h = top, offset = top * p.width - left;
#pragma GCC unroll 8
    for (int line = 0; line < kLines; ++line, h += step, offset += row)
      at[line] = static_cast<uint64_t>(h) < height ? x + offset : kNothing;
  }
};

/// Adds what `kColumns` columns of taps from `tap` give to the sums of kRows rows. What lies beside the plane is masked out; with kInside,
/// nothing does.
template <int kTaps, int kStride, int kRows, int kColumns, bool kInside, typename Lines>
inline void add_taps(const DirectPlane& p, const Lines& lines, int64_t column, int tap, __m512 (&sum)[kRows]) {
  static_assert(kStride == 1 || kColumns <= 2);
  const int64_t shift = column * kStride + tap * p.dilation, left = shift - p.pad_left;
  __mmask16 live[kColumns];
#pragma GCC unroll 4
  for (int c = 0; c < kColumns; ++c) {
    const int64_t at = left + c * p.dilation;
    live[c] = kInside ? __mmask16{0xffff} : lanes_within(-at, p.width - at);
  }
  const __mmask16 beyond = kInside ? __mmask16{0xffff} : lanes_within(-left - 16, p.width - left - 16);
  __m512 weight[kTaps][kColumns];
#pragma GCC unroll 8
  for (int line = 0; line < kTaps; ++line) {
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) weight[line][c] = _mm512_set1_ps(p.weights[line * kTaps + tap + c]);
  }
#pragma GCC unroll 32
  for (int line = 0; line < kStride * (kRows - 1) + kTaps; ++line) {
    const float* from = lines.at[line] + shift;
    __m512 value[kColumns];
    if constexpr (kStride == 2) {
      const __m512 a = _mm512_maskz_loadu_ps(live[0], from), b = _mm512_maskz_loadu_ps(beyond, from + 16);
      value[0] = Float::even(a, b);
      if constexpr (kColumns == 2) value[1] = Float::odd(a, b);
    } else {
#pragma GCC unroll 4
      for (int c = 0; c < kColumns; ++c) value[c] = _mm512_maskz_loadu_ps(live[c], from + c * p.dilation);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      if (line < kStride * i || line >= kStride * i + kTaps) continue;
#pragma GCC unroll 4
      for (int c = 0; c < kColumns; ++c) sum[i] = _mm512_fmadd_ps(weight[line - kStride * i][c], value[c], sum[i]);
    }
  }
}

template <int kTaps, int kStride, int kRows, bool kInside, typename Lines>
inline void add_all_taps(const DirectPlane& p, const Lines& lines, int64_t column, __m512 (&sum)[kRows]) {
  constexpr int kColumns = kTaps == 3 && kStride == 1 ? 3 : 2;
#pragma GCC unroll 1
  for (int tap = 0; tap + kColumns <= kTaps; tap += kColumns)
    add_taps<kTaps, kStride, kRows, kColumns, kInside>(p, lines, column, tap, sum);
  if constexpr (kTaps % kColumns != 0) add_taps<kTaps, kStride, kRows, 1, kInside>(p, lines, column, kTaps - 1, sum);
}

/// kRows rows of y, `dilation` rows apart, from `row`.
template <int kTaps, int kStride, int kRows>
void direct_rows(const DirectPlane& p, int64_t row) {
  Lines<kStride*(kRows - 1) + kTaps> lines(p, row * kStride - p.pad_top);
  for (int64_t column = 0; column < p.columns; column += 16) {
    __m512 sum[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sum[i] = _mm512_set1_ps(p.bias);
    const int64_t left = column * kStride - p.pad_left, reach = left + (kTaps - 1) * p.dilation + 16 * kStride;
    if (left >= 0 && reach <= p.width)
      add_all_taps<kTaps, kStride, kRows, true>(p, lines, column, sum);
    else
      add_all_taps<kTaps, kStride, kRows, false>(p, lines, column, sum);
    const __mmask16 live = lanes_within(0, p.columns - column);
    const __m512 low = _mm512_set1_ps(p.low), high = _mm512_set1_ps(p.high);
    const int64_t at = row * p.columns + column, step = p.dilation * p.columns;
    if (p.residual) {
      const float* from = p.residual + at;
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sum[i] = _mm512_add_ps(sum[i], _mm512_maskz_loadu_ps(live, from + i * step));
    }
    float* to = p.y + at;
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i, to += step) _mm512_mask_storeu_ps(to, live, Float::min(high, Float::max(low, sum[i])));
  }
}

template <int kTaps, int kStride>
void direct_plane(const DirectPlane& p) {
  constexpr void (*kBlocks[])(const DirectPlane&, int64_t) = {
      direct_rows<kTaps, kStride, 1>, direct_rows<kTaps, kStride, 2>, direct_rows<kTaps, kStride, 3>, direct_rows<kTaps, kStride, 4>,
      direct_rows<kTaps, kStride, 5>, direct_rows<kTaps, kStride, 6>, direct_rows<kTaps, kStride, 7>, direct_rows<kTaps, kStride, 8>};
  constexpr int64_t kMostRows = 8;
  const int64_t step = p.dilation;
  for (int64_t phase = 0; phase < step && phase < p.rows; ++phase) {
    const int64_t rows = (p.rows - phase + step - 1) / step, blocks = (rows + kMostRows - 1) / kMostRows;
    for (int64_t block = 0, row = 0; block < blocks; ++block) {
      const int64_t count = rows / blocks + (block < rows % blocks ? 1 : 0);
      kBlocks[count - 1](p, phase + row * step);
      row += count;
    }
  }
}

void direct(const DirectPlane& p) {
  if (p.stride == 2) return p.taps == 3 ? direct_plane<3, 2>(p) : p.taps == 5 ? direct_plane<5, 2>(p) : direct_plane<7, 2>(p);
  return p.taps == 3 ? direct_plane<3, 1>(p) : p.taps == 5 ? direct_plane<5, 1>(p) : direct_plane<7, 1>(p);
}

/// Sixteen vectors as rows become columns.
inline void transpose(__m512 (&x)[16]) {
  const auto low = [](__m512 a, __m512 b) { return _mm512_maskz_unpacklo_ps(0xffff, a, b); };
  const auto high = [](__m512 a, __m512 b) { return _mm512_maskz_unpackhi_ps(0xffff, a, b); };
  const auto pairs = [](__m512 a, __m512 b, int upper) {
    const __m512d p = _mm512_castps_pd(a), q = _mm512_castps_pd(b);
    return _mm512_castpd_ps(upper ? _mm512_maskz_unpackhi_pd(0xff, p, q) : _mm512_maskz_unpacklo_pd(0xff, p, q));
  };
  __m512 t[16];
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    const __m512 a = low(x[i], x[i + 1]), b = high(x[i], x[i + 1]), c = low(x[i + 2], x[i + 3]), d = high(x[i + 2], x[i + 3]);
    t[i] = pairs(a, c, 0);
    t[i + 1] = pairs(a, c, 1);
    t[i + 2] = pairs(b, d, 0);
    t[i + 3] = pairs(b, d, 1);
  }
  // Lane group g of t[4 r + c] holds column 4 g + c of rows 4 r to 4 r + 3.
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512 a = _mm512_maskz_shuffle_f32x4(0xffff, t[c], t[4 + c], 0x88), b = _mm512_maskz_shuffle_f32x4(0xffff, t[c], t[4 + c], 0xdd);
    const __m512 d = _mm512_maskz_shuffle_f32x4(0xffff, t[8 + c], t[12 + c], 0x88),
                 e = _mm512_maskz_shuffle_f32x4(0xffff, t[8 + c], t[12 + c], 0xdd);
    x[c] = _mm512_maskz_shuffle_f32x4(0xffff, a, d, 0x88);
    x[4 + c] = _mm512_maskz_shuffle_f32x4(0xffff, b, e, 0x88);
    x[8 + c] = _mm512_maskz_shuffle_f32x4(0xffff, a, d, 0xdd);
    x[12 + c] = _mm512_maskz_shuffle_f32x4(0xffff, b, e, 0xdd);
  }
}

void finish(const PixelSums& p) {
  const __m512 low = _mm512_set1_ps(p.low), high = _mm512_set1_ps(p.high);
  for (int64_t channel = 0; channel < p.channels; channel += 16) {
    const int64_t channels = std::min<int64_t>(16, p.channels - channel);
    for (int64_t pixel = 0; pixel < p.pixels; pixel += 16) {
      const int64_t pixels = std::min<int64_t>(16, p.pixels - pixel);
      const __mmask16 live = lanes_within(0, pixels);
      __m512 x[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) x[i] = i < pixels ? _mm512_loadu_ps(p.sums + (pixel + i) * p.sums_row + channel) : _mm512_setzero_ps();
      transpose(x);
      const int64_t at = channel * p.plane + pixel;
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) {
        if (i >= channels) break;
        if (p.residual) x[i] = _mm512_add_ps(x[i], _mm512_maskz_loadu_ps(live, p.residual + at + i * p.plane));
        _mm512_mask_storeu_ps(p.y + at + i * p.plane, live, Float::min(high, Float::max(low, x[i])));
      }
    }
  }
}

}  // namespace

extern const ConvTable kAvx512Conv = conv_table<Float, Double>({small_planes, direct, finish});

}  // namespace rh::compute
