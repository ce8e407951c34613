#include <immintrin.h>

#include <cstring>

#include "compute/quant/nbits_int8_micro.h"

namespace rh::compute {
namespace {

constexpr int kInfinity = 0x7f800000, kMagnitude = 0x7fffffff;
constexpr float kTiny = 1e-30f;     // largest magnitudes below have an infinite reciprocal
constexpr int64_t kGroup = 16;      // blocks whose scales are found together
constexpr __mmask16 kAll = 0xffff;  // masked forms, since GCC 12 gives false warnings for the plain ones

__mmask16 lanes(int64_t count) { return static_cast<__mmask16>(count >= 16 ? 0xffff : count <= 0 ? 0 : (1u << count) - 1); }
__m512 to_floats(__m512i x) { return _mm512_maskz_cvtepi32_ps(kAll, x); }
int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/// Lane i of the result: the lanes of x[i] brought together.
template <typename F>
__m512i fold_lanes(const __m512i (&x)[kGroup], F f) {
  __m512i two[8], four[4], eight[2];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i)
    two[i] = f(_mm512_maskz_unpacklo_epi32(kAll, x[2 * i], x[2 * i + 1]), _mm512_maskz_unpackhi_epi32(kAll, x[2 * i], x[2 * i + 1]));
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    four[i] =
        f(_mm512_maskz_unpacklo_epi64(0xff, two[2 * i], two[2 * i + 1]), _mm512_maskz_unpackhi_epi64(0xff, two[2 * i], two[2 * i + 1]));
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    eight[i] = f(_mm512_maskz_shuffle_i32x4(kAll, four[2 * i], four[2 * i + 1], 0x44),
                 _mm512_maskz_shuffle_i32x4(kAll, four[2 * i], four[2 * i + 1], 0xee));
  }
  return f(_mm512_maskz_shuffle_i32x4(kAll, eight[0], eight[1], 0x88), _mm512_maskz_shuffle_i32x4(kAll, eight[0], eight[1], 0xdd));
}

/// `from` has `count` floats; kWhole: more than are read. Nothing is read behind them, not even masked: processors take long over pages
/// that are not there.
template <bool kWhole>
__m512 load_at(const float* from, int64_t count, int64_t at) {
  if (kWhole || at + 16 <= count) return _mm512_loadu_ps(from + at);
  return at < count ? _mm512_maskz_loadu_ps(lanes(count - at), from + at) : _mm512_setzero_ps();
}

/// The largest magnitudes of kGroup blocks, as bits.
template <bool kWhole>
__m512i largest_of_blocks(const float* from, int64_t count, int64_t block) {
  __m512i most[kGroup];
  for (int64_t j = 0; j < kGroup; ++j) {
    most[j] = _mm512_setzero_si512();
    const int64_t end = kWhole ? (j + 1) * block : least((j + 1) * block, count);
    for (int64_t i = j * block; i < end; i += 16) {
      const __m512i bits = _mm512_castps_si512(load_at<kWhole>(from, count, i));
      most[j] = _mm512_maskz_max_epi32(kAll, most[j], _mm512_and_si512(bits, _mm512_set1_epi32(kMagnitude)));
    }
  }
  return fold_lanes(most, [](__m512i a, __m512i b) { return _mm512_maskz_max_epi32(kAll, a, b); });
}

/// Which byte of 16 each byte of a row takes: words of codes hold codes of one bit position side by side.
__m512i order_of(int bits) {
  const __m128i order = bits == 4   ? _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15)
                        : bits == 2 ? _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
                                    : _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_maskz_broadcast_i32x4(kAll, order);
}

/// `elements` elements of `from`, each vector of 16 times the factor of its block. `sums`: of the blocks, by lanes, or null.
template <bool kWhole>
void round_blocks(const float* from, int64_t count, int64_t elements, const float* factors, int64_t shift, __m512i order, uint8_t* out,
                  __m512i* sums) {
  // Packing leaves four bytes of each of the four vectors in each 128 bits.
  const __m512i in_order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  for (int64_t i = 0; i < elements; i += 64) {
    __m512i whole[4];
#pragma GCC unroll 4
    for (int64_t t = 0; t < 4; ++t) {
      const int64_t block = (i / 16 + t) >> shift;
      whole[t] = _mm512_maskz_cvtps_epi32(kAll, _mm512_mul_ps(load_at<kWhole>(from, count, i + 16 * t), _mm512_set1_ps(factors[block])));
      if (sums) sums[block] = _mm512_add_epi32(sums[block], whole[t]);
    }
    const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(whole[0], whole[1]), _mm512_packs_epi32(whole[2], whole[3]));
    const __m512i offset = _mm512_xor_si512(_mm512_maskz_permutexvar_epi32(kAll, in_order, bytes), _mm512_set1_epi8(-128));
    _mm512_storeu_si512(out + i, _mm512_shuffle_epi8(offset, order));
  }
}

void quantize(const float* a, int64_t k, int64_t block, int64_t elements, int bits, const NBitsByteRow& row) {
  const int64_t shift = __builtin_ctzll(static_cast<unsigned long long>(block)) - 4, group = kGroup * block;
  const __m512i order = order_of(bits);
  for (int64_t first = 0, b = 0; first < elements; first += group, b += kGroup) {
    const float* from = a + first;
    const int64_t count = k - first, inside = least(group, elements - first);
    const bool is_whole = count >= group;
    const __m512i most_bits = is_whole ? largest_of_blocks<true>(from, count, block) : largest_of_blocks<false>(from, count, block);
    const __m512 most = _mm512_castsi512_ps(most_bits);
    const __mmask16 is_finite = _mm512_cmplt_epi32_mask(most_bits, _mm512_set1_epi32(kInfinity));
    const __mmask16 is_usual = is_finite & _mm512_cmp_ps_mask(most, _mm512_set1_ps(kTiny), _CMP_GE_OQ);
    const __m512 scale = _mm512_mask_div_ps(_mm512_maskz_mov_ps(static_cast<__mmask16>(~is_finite), _mm512_set1_ps(__builtin_nanf(""))),
                                            is_usual, most, _mm512_set1_ps(kInt8Most));
    float factors[kGroup];
    _mm512_storeu_ps(factors, _mm512_maskz_div_ps(is_usual, _mm512_set1_ps(kInt8Most), most));
    _mm512_storeu_ps(row.scales + b, scale);
    __m512i sums[kGroup];
    if (row.sums) {
      for (__m512i& sum : sums) sum = _mm512_setzero_si512();
    }
    __m512i* const summed = row.sums ? sums : nullptr;
    if (is_whole) {
      round_blocks<true>(from, count, inside, factors, shift, order, row.values + first, summed);
    } else {
      round_blocks<false>(from, count, inside, factors, shift, order, row.values + first, summed);
    }
    if (!row.sums) continue;
    const __m512i total = fold_lanes(sums, [](__m512i x, __m512i y) { return _mm512_add_epi32(x, y); });
    _mm512_storeu_ps(row.sums + b, _mm512_mul_ps(to_floats(total), scale));
  }
}

void arrange(const uint8_t* row, int64_t chunks, int bits, int8_t* out) {
  const __m512i flip = _mm512_set1_epi8(-128);
  if (bits == 8) {
    for (int64_t i = 0; i < chunks; ++i) _mm512_storeu_si512(out + 64 * i, _mm512_xor_si512(_mm512_loadu_si512(row + 64 * i), flip));
    return;
  }
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  for (int64_t i = 0; i < chunks; ++i, row += 128, out += 128) {
    const __m512i first = _mm512_xor_si512(_mm512_loadu_si512(row), flip), second = _mm512_xor_si512(_mm512_loadu_si512(row + 64), flip);
    _mm512_storeu_si512(out, _mm512_permutex2var_epi32(first, even, second));
    _mm512_storeu_si512(out + 64, _mm512_permutex2var_epi32(first, odd, second));
  }
}

/// sum += the four products of an unsigned byte of a and a signed one of b in each lane. By an instruction of its own: GCC 12 copies the
/// sums of the plain form around each.
void add_fours(__m512i& sum, __m512i a, __m512i b) {
#if defined(__GNUC__)
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
#else
  sum = _mm512_dpbusd_epi32(sum, a, b);
#endif
}

/// Word w of 16 columns in to[w], out of up to 16 words of each.
void turn_words(const __m512i (&from)[16], __m512i (&to)[16]) {
  __m512i four[4][4];
#pragma GCC unroll 4
  for (int g = 0; g < 4; ++g) {
    const __m512i *x = from + 4 * g, a = _mm512_maskz_unpacklo_epi32(kAll, x[0], x[1]), b = _mm512_maskz_unpackhi_epi32(kAll, x[0], x[1]);
    const __m512i c = _mm512_maskz_unpacklo_epi32(kAll, x[2], x[3]), d = _mm512_maskz_unpackhi_epi32(kAll, x[2], x[3]);
    four[g][0] = _mm512_maskz_unpacklo_epi64(0xff, a, c), four[g][1] = _mm512_maskz_unpackhi_epi64(0xff, a, c);
    four[g][2] = _mm512_maskz_unpacklo_epi64(0xff, b, d), four[g][3] = _mm512_maskz_unpackhi_epi64(0xff, b, d);
  }
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    const __m512i even0 = _mm512_maskz_shuffle_i32x4(kAll, four[0][q], four[1][q], 0x88);
    const __m512i even1 = _mm512_maskz_shuffle_i32x4(kAll, four[2][q], four[3][q], 0x88);
    const __m512i odd0 = _mm512_maskz_shuffle_i32x4(kAll, four[0][q], four[1][q], 0xdd);
    const __m512i odd1 = _mm512_maskz_shuffle_i32x4(kAll, four[2][q], four[3][q], 0xdd);
    to[q] = _mm512_maskz_shuffle_i32x4(kAll, even0, even1, 0x88), to[8 + q] = _mm512_maskz_shuffle_i32x4(kAll, even0, even1, 0xdd);
    to[4 + q] = _mm512_maskz_shuffle_i32x4(kAll, odd0, odd1, 0x88), to[12 + q] = _mm512_maskz_shuffle_i32x4(kAll, odd0, odd1, 0xdd);
  }
}

/// Words [first, first + 16) of 16 columns, of which `columns` exist, turned. The next panel's are brought nearer.
void load_words(const NBitsPanelArgs& p, const uint8_t* codes, int64_t columns, __mmask16 live, __m512i (&words)[16]) {
  __m512i rows[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    const uint8_t* from = codes + i * p.codes_row;
    rows[i] = i < columns ? _mm512_maskz_loadu_epi32(live, from) : _mm512_setzero_si512();
    _mm_prefetch(reinterpret_cast<const char*>(from + kNBitsColumns * p.codes_row), _MM_HINT_T1);
  }
  turn_words(rows, words);
}

/// 16 columns of a panel.
template <int kBits>
void write_columns(const NBitsPanelArgs& p, int64_t j) {
  const __m512i mask = _mm512_set1_epi8(static_cast<char>((1 << kBits) - 1)), offset = _mm512_set1_epi8(static_cast<char>(kInt8Offset));
  const __m512i first_bytes = _mm512_maskz_broadcast_i32x4(kAll, _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
  const __m512i middle = _mm512_set1_epi8(static_cast<char>(1 << (kBits - 1)));
  const auto zero_of = [&](int64_t block) {
    const __m512 zero = _mm512_loadu_ps(p.zero_points + block * kNBitsColumns + j);
    return _mm512_shuffle_epi8(_mm512_maskz_cvtps_epi32(kAll, zero), first_bytes);
  };
  const int64_t count = p.blocks * p.block_words;
  int32_t *fours = p.fours + j, *starts = p.starts + j;
  __m512i zero = p.zero_points ? zero_of(0) : middle, total = _mm512_setzero_si512(), words[16];
  for (int64_t w = 0, left = p.block_words, block = 0; w < count; ++w, fours += 8 / kBits * kNBitsColumns) {
    if (w % 16 == 0) load_words(p, p.codes + j * p.codes_row + 4 * w, p.columns - j, lanes(count - w), words);
    __m512i word = words[w % 16];
#pragma GCC unroll 4
    for (int t = 0; t < 8 / kBits; ++t) {
      const __m512i four = _mm512_sub_epi8(_mm512_and_si512(word, mask), zero);
      _mm512_storeu_si512(fours + t * kNBitsColumns, four);
      add_fours(total, offset, four);
      word = _mm512_maskz_srli_epi32(kAll, word, kBits & 7);
    }
    if (--left > 0) continue;
    _mm512_storeu_si512(starts, _mm512_sub_epi32(_mm512_setzero_si512(), total));
    starts += kNBitsColumns;
    total = _mm512_setzero_si512();
    left = p.block_words;
    if (++block < p.blocks && p.zero_points) zero = zero_of(block);
  }
}

void write_panel(const NBitsPanelArgs& p) {
  for (int64_t j = 0; j < kNBitsColumns; j += 16) {
    if (p.bits == 2) {
      write_columns<2>(p, j);
    } else if (p.bits == 4) {
      write_columns<4>(p, j);
    } else {
      write_columns<8>(p, j);
    }
  }
}

__m512i repeat_four(const uint8_t* p) {
  int32_t word;
  std::memcpy(&word, p, sizeof(word));
  return _mm512_set1_epi32(word);
}

template <int kRows>
void tile(const NBitsByteTileArgs& p) {
  const __mmask16 live[2] = {lanes(p.columns), lanes(p.columns - 16)};
  __m512 sum[kRows][2];
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < 2; ++j)
      sum[i][j] = p.start ? _mm512_loadu_ps(p.start + 16 * j) : _mm512_maskz_loadu_ps(live[j], p.c + i * p.c_row + 16 * j);
  }
  const int32_t* right = p.panel;
  const uint8_t* left = p.left;
  for (int64_t b = 0; b < p.blocks; ++b) {
    const int64_t at = b * kNBitsColumns;
    __m512i part[kRows][2];
    const __m512i t0 = _mm512_loadu_si512(p.starts + at), t1 = _mm512_loadu_si512(p.starts + at + 16);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) part[i][0] = t0, part[i][1] = t1;
    for (int64_t t = 0; t < p.fours; t += 4) {
#pragma GCC unroll 4
      for (int64_t u = 0; u < 4; ++u, right += kNBitsColumns, left += 4) {
        const __m512i r0 = _mm512_loadu_si512(right), r1 = _mm512_loadu_si512(right + 16);
#pragma GCC unroll 6
        for (int i = 0; i < kRows; ++i) {
          const __m512i four = repeat_four(left + i * p.left_row);
          add_fours(part[i][0], four, r0);
          add_fours(part[i][1], four, r1);
        }
      }
    }
    const __m512 s0 = _mm512_loadu_ps(p.scales + at), s1 = _mm512_loadu_ps(p.scales + at + 16);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      const __m512 scale = _mm512_set1_ps(p.left_scales[i * p.left_blocks + b]);
      sum[i][0] = _mm512_fmadd_ps(_mm512_mul_ps(to_floats(part[i][0]), scale), s0, sum[i][0]);
      sum[i][1] = _mm512_fmadd_ps(_mm512_mul_ps(to_floats(part[i][1]), scale), s1, sum[i][1]);
    }
    if (!p.zeros) continue;
    const __m512 z0 = _mm512_loadu_ps(p.zeros + at), z1 = _mm512_loadu_ps(p.zeros + at + 16);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      const __m512 whole = _mm512_set1_ps(p.left_sums[i * p.left_blocks + b]);
      sum[i][0] = _mm512_fmadd_ps(whole, z0, sum[i][0]);
      sum[i][1] = _mm512_fmadd_ps(whole, z1, sum[i][1]);
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < 2; ++j) _mm512_mask_storeu_ps(p.c + i * p.c_row + 16 * j, live[j], sum[i][j]);
  }
}

constexpr void (*kTiles[])(const NBitsByteTileArgs&) = {nullptr, tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>};

}  // namespace

extern const NBitsInt8Kernels kAvx512VnniNBitsInt8 = {quantize, arrange, write_panel, &kAvx512VnniNBits, 6, kTiles};

}  // namespace rh::compute
