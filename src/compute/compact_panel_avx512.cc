#include <immintrin.h>

#include "compute/compact_panel.h"

#if defined(__GNUC__)
#define RH_INLINED __attribute__((always_inline))
#else
#define RH_INLINED
#endif

namespace rh::compute {
namespace {

constexpr int64_t kLanes = 16;  // masked forms with a full mask: the plain ones give a false warning of GCC 12

/// Calls step(i, vector) for the eight vectors of four rows, the two of each row one behind the other.
template <typename Step>
RH_INLINED inline void decode_group(const uint32_t* codes, Step&& step) {
  const __m512i kept = _mm512_set1_epi32(static_cast<int>(kCompactBits)), base = _mm512_set1_epi32(static_cast<int>(kCompactBase));
  const auto finished = [=](__m512i code) RH_INLINED { return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_and_si512(code, kept), base)); };
  constexpr int kOr = 0xf8;  // a | (b & c)
  __m512i last = _mm512_setzero_si512();
#pragma GCC unroll 7
  for (unsigned i = 0; i < 7; ++i) {
    const __m512i word = _mm512_loadu_si512(codes + i * kLanes), part = _mm512_set1_epi32(15 << (4 * i));
    last = _mm512_ternarylogic_epi32(last, _mm512_maskz_srli_epi32(0xffff, word, 27 - 4 * i), part, kOr);
    step(static_cast<int>(i), finished(word));
  }
  // The sign goes from bit 27 to its place; `kept` leaves out what stays behind.
  const __m512i sign = _mm512_maskz_slli_epi32(0xffff, last, 4), at_sign = _mm512_set1_epi32(static_cast<int>(0x80000000u));
  step(7, finished(_mm512_ternarylogic_epi32(last, sign, at_sign, kOr)));
}

// Nothing is fetched ahead: the processor does that itself as well as can be, and fetches that lie between the steps slow it down.
void decode(const uint32_t* codes, int64_t groups, float* to) {
  for (; groups > 0; --groups, codes += kCompactWords, to += kCompactRows * kCompactWidth) {
    decode_group(codes, [=](int i, __m512 vector) RH_INLINED { _mm512_storeu_ps(to + i * kLanes, vector); });
  }
}

template <int kRows>
void multiply_few(const CompactFew& p) {
  constexpr int kApart = kRows == 1 ? 2 : 1;  // sums of which each has every second row of the panel
  const uint32_t* codes = p.panel;
  const float* a = p.a;
  const int64_t a_row = p.a_row;
  bool first = true;
  for (int64_t left = compact_groups(p.rows); left > 0; first = false) {
    __m512 sums[kRows][2 * kApart];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < 2 * kApart; ++j) sums[i][j] = _mm512_setzero_ps();
    }
    const int64_t groups = left < p.fold ? left : p.fold;
    for (int64_t group = 0; group < groups; ++group, codes += kCompactWords, a += kCompactRows) {
      decode_group(codes, [&](int j, __m512 vector) RH_INLINED {
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
          __m512& sum = sums[i][j % (2 * kApart)];
          sum = _mm512_fmadd_ps(_mm512_set1_ps(a[i * a_row + j / 2]), vector, sum);
        }
      });
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) {
        float* const to = p.sums + i * kCompactWidth + j * kLanes;
        __m512 sum = sums[i][j];
        if constexpr (kApart == 2) sum = _mm512_add_ps(sum, sums[i][2 + j]);
        _mm512_storeu_ps(to, first ? sum : _mm512_add_ps(_mm512_loadu_ps(to), sum));
      }
    }
    left -= groups;
  }
  add_compact_exceptions(p, kRows);
}

constexpr void (*kFew[kMostCompactFew + 1])(const CompactFew&) = {
    nullptr,         multiply_few<1>, multiply_few<2>, multiply_few<3>, multiply_few<4>,
    multiply_few<5>, multiply_few<6>, multiply_few<7>, multiply_few<8>};

}  // namespace

extern const CompactKernels kAvx512Compact = {decode, kFew};

}  // namespace rh::compute

#undef RH_INLINED
