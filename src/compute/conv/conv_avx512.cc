#include "compute/conv/conv_micro_body.h"
#include "compute/conv/conv_planes_body.h"
#include "compute/conv/conv_rows_body.h"
#include "compute/simd/vector_avx512.h"

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

}  // namespace

extern const ConvTable kAvx512Conv = conv_table<Float, Double>({small_planes, direct<Float>, finish<Float>, channel_lines<Float>});

}  // namespace rh::compute
