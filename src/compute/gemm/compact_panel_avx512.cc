#include <immintrin.h>

#include "compute/gemm/compact_panel.h"
#include "compute/simd/inlined.h"

namespace rh::compute {
namespace {

constexpr int64_t kLanes = 16;  // masked forms with a full mask: the plain ones give a false warning of GCC 12

inline __m512i all_of(uint32_t word) { return _mm512_set1_epi32(static_cast<int>(word)); }

/// Each calls step(i, vector) for the eight vectors of four rows, the two of each row one behind the other. kAhead: words between what is
/// read and what is fetched meanwhile; weights that are read once a run, and are more than the caches hold, do not go through all of them.
struct Bits28 {
  static constexpr CompactForm kForm = CompactForm::bits28;
  static constexpr int64_t kAhead = 1536;

  template <typename Step>
  RH_INLINED static void decode(const uint32_t* codes, Step&& step) {
    const __m512i kept = all_of(0x87ffffff), base = all_of(compact_base(kForm));
    const auto finished = [=](__m512i code)
                              RH_INLINED { return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_and_si512(code, kept), base)); };
    constexpr int kOr = 0xf8;  // a | (b & c)
    __m512i last = _mm512_setzero_si512();
#pragma GCC unroll 7
    for (unsigned i = 0; i < 7; ++i) {
      const __m512i word = _mm512_loadu_si512(codes + i * kLanes), part = all_of(15u << (4 * i));
      last = _mm512_ternarylogic_epi32(last, _mm512_maskz_srli_epi32(0xffff, word, 27 - 4 * i), part, kOr);
      step(static_cast<int>(i), finished(word));
    }
    // The sign goes from bit 27 to its place; `kept` leaves out what stays behind.
    const __m512i sign = _mm512_maskz_slli_epi32(0xffff, last, 4);
    step(7, finished(_mm512_ternarylogic_epi32(last, sign, all_of(0x80000000u), kOr)));
  }
};

/// Where vectors are worked on by halves: fetches between so many steps make them slower, and the processor fetches itself.
struct Bits28Halves : Bits28 {
  static constexpr int64_t kAhead = 0;
};

struct Bits16 {
  static constexpr CompactForm kForm = CompactForm::bits16;
  static constexpr int64_t kAhead = 1024;  // 0.9 of the time

  template <typename Step>
  RH_INLINED static void decode(const uint32_t* codes, Step&& step) {
    const __m512i kept = all_of(0x8fffe000u), base = all_of(compact_base(kForm));
    // The sign is drawn along, and stays in its place alone.
    const auto finished = [=](__m512i code) RH_INLINED {
      const __m512i bits = _mm512_and_si512(_mm512_maskz_srai_epi32(0xffff, code, 3), kept);
      return _mm512_castsi512_ps(_mm512_add_epi32(bits, base));
    };
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m512i word = _mm512_loadu_si512(codes + i * kLanes);
      step(2 * i, finished(_mm512_maskz_slli_epi32(0xffff, word, 16)));
      step(2 * i + 1, finished(word));
    }
  }
};

template <typename Form>
void decode(const uint32_t* codes, int64_t groups, float* to) {
  for (; groups > 0; --groups, codes += compact_group(Form::kForm), to += kCompactRows * kCompactWidth) {
    Form::decode(codes, [=](int i, __m512 vector) RH_INLINED { _mm512_storeu_ps(to + i * kLanes, vector); });
  }
}

template <typename Form, int kRows>
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
    for (int64_t group = 0; group < groups; ++group, codes += compact_group(Form::kForm), a += kCompactRows) {
      for (int64_t i = 0; Form::kAhead > 0 && i < compact_group(Form::kForm); i += kLanes)
        _mm_prefetch(reinterpret_cast<const char*>(codes + Form::kAhead + i),
                     Form::kForm == CompactForm::bits28 ? _MM_HINT_NTA : _MM_HINT_T0);
      Form::decode(codes, [&](int j, __m512 vector) RH_INLINED {
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
}

template <typename Form>
constexpr void (*kFew[kMostCompactFew + 1])(const CompactFew&) = {
    nullptr,
    multiply_few<Form, 1>,
    multiply_few<Form, 2>,
    multiply_few<Form, 3>,
    multiply_few<Form, 4>,
    multiply_few<Form, 5>,
    multiply_few<Form, 6>,
    multiply_few<Form, 7>,
    multiply_few<Form, 8>,
};

}  // namespace

extern const CompactKernels kAvx512Bits28 = {decode<Bits28>, kFew<Bits28>};
extern const CompactKernels kAvx512Bits28Halves = {decode<Bits28>, kFew<Bits28Halves>};
extern const CompactKernels kAvx512Bits16 = {decode<Bits16>, kFew<Bits16>};

}  // namespace rh::compute
