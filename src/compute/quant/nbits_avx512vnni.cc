#include <immintrin.h>

#include <cstring>

#include "compute/quant/nbits_int16_micro.h"

namespace rh::compute {
namespace {

constexpr int64_t kAhead = 8192;  // bytes of codes, read where they lie, that are brought nearer
constexpr int kInfinity = 0x7f800000, kMagnitude = 0x7fffffff;

__mmask16 lanes(int64_t count) { return static_cast<__mmask16>(count >= 16 ? 0xffff : (1u << count) - 1); }
/// Masked, since GCC 12 gives a false warning for the plain form.
__m512 to_floats(__m512i x) { return _mm512_maskz_cvtepi32_ps(0xffff, x); }
int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/// Lane i of the result: lanes i, i + 4, i + 8 and i + 12 brought together.
template <typename F>
__m128i fold(__m512i x, F f) {
  const __m256i low = _mm512_maskz_extracti32x8_epi32(0xff, x, 0), high = _mm512_maskz_extracti32x8_epi32(0xff, x, 1);
  const __m128i first = f(_mm256_castsi256_si128(low), _mm256_castsi256_si128(high));
  return f(first, f(_mm256_extracti128_si256(low, 1), _mm256_extracti128_si256(high, 1)));
}
template <typename F>
int reduce(__m512i x, F f) {
  __m128i four = fold(x, f);
  four = f(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(f(four, _mm_shuffle_epi32(four, 0xb1)));
}
int largest(__m512i x) {
  return reduce(x, [](__m128i a, __m128i b) { return _mm_max_epi32(a, b); });
}
int total(__m512i x) {
  return reduce(x, [](__m128i a, __m128i b) { return _mm_add_epi32(a, b); });
}

/// The factor that brings a block's largest magnitude (its bits) to kInt16Most, and the scale that takes it back.
float factor_of(int bits, float& scale) {
  const float most = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(bits)));
  const bool is_tiny = most < 1e-30f;  // its reciprocal would be infinite
  scale = bits >= kInfinity ? __builtin_nanf("") : is_tiny ? 0 : most / kInt16Most;
  return bits >= kInfinity || is_tiny ? 0 : kInt16Most / most;
}

void quantize(const float* a, int64_t k, int64_t block, int64_t blocks, int16_t* out, float* scales, float* sums) {
  for (int64_t b = 0; b < blocks; ++b) {
    const float* from = a + b * block;
    const int64_t count = least(block, k - b * block);
    __m512i most = _mm512_setzero_si512();
    for (int64_t i = 0; i < count; i += 16) {
      const __m512i bits = _mm512_castps_si512(_mm512_maskz_loadu_ps(lanes(count - i), from + i));
      most = _mm512_maskz_max_epi32(0xffff, most, _mm512_and_si512(bits, _mm512_set1_epi32(kMagnitude)));
    }
    const __m512 factor = _mm512_set1_ps(factor_of(largest(most), scales[b]));
    __m512i sum = _mm512_setzero_si512();
    for (int64_t i = 0; i < block; i += 16) {
      const __mmask16 live = i < count ? lanes(count - i) : 0;
      const __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(live, from + i), factor);
      // Infinities times 0 are NaN, which would become a number.
      const __m512i whole = _mm512_maskz_cvtps_epi32(_mm512_cmp_ps_mask(scaled, scaled, _CMP_ORD_Q), scaled);
      sum = _mm512_add_epi32(sum, whole);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + b * block + i), _mm512_maskz_cvtepi32_epi16(0xffff, whole));
    }
    sums[b] = static_cast<float>(total(sum)) * scales[b];
  }
}

__m512i high_bytes(__m512i x) { return _mm512_srai_epi16(_mm512_add_epi16(x, _mm512_set1_epi16(128)), 8); }

void store_bytes(int8_t* to, __m512i words) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_maskz_cvtepi32_epi8(0xffff, words)); }

/// Which of a row's scales each lane of a chunk takes.
struct LaneScales {
  __m512i lane;     ///< of what is loaded
  int64_t up;       ///< 2^up blocks a chunk
  int64_t down;     ///< 2^down chunks a block
  __mmask16 whole;  ///< what is loaded

  LaneScales(int bits, int64_t block_shift) {
    const int64_t shift = (bits == 4 ? 7 : 6) - block_shift;
    up = shift > 0 ? shift : 0;
    down = shift > 0 ? 0 : -shift;
    whole = lanes(int64_t{1} << up);
    const __m512i index = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    lane = _mm512_maskz_srl_epi32(0xffff, index, _mm_cvtsi64_si128(4 - up));
  }
  int64_t first(int64_t chunk) const { return (chunk << up) >> down; }
  __mmask16 of(int64_t chunk, int64_t blocks) const { return lanes(least(int64_t{1} << up, blocks - first(chunk))); }
  __m512 load(const float* scales, int64_t chunk, __mmask16 live) const {
    return _mm512_maskz_permutexvar_ps(0xffff, lane, _mm512_maskz_loadu_ps(live, scales + first(chunk)));
  }
};

void arrange_lanes(const float* scales, int64_t blocks, int64_t block_shift, int64_t chunks, int bits, float* out) {
  const LaneScales lane_scales(bits, block_shift);
  for (int64_t v = 0; v < chunks; ++v) _mm512_storeu_ps(out + 16 * v, lane_scales.load(scales, v, lane_scales.of(v, blocks)));
}

void arrange(const int16_t* row, int64_t chunks, int bits, int8_t* out) {
  if (bits == 8) {
    for (int64_t i = 0; i < 2 * chunks; ++i, row += 32, out += i % 2 == 1 ? 32 : 96) {
      const __m512i x = _mm512_loadu_si512(row);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_maskz_cvtepi16_epi8(~0u, high_bytes(x)));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 64), _mm512_maskz_cvtepi16_epi8(~0u, x));
    }
    return;
  }
  for (int64_t i = 0; i < chunks; ++i, out += 256) {
    for (int64_t j = 0; j < 4; ++j, row += 32) {
      const __m512i x = _mm512_loadu_si512(row), high = high_bytes(x);
      store_bytes(out + 16 * j, high);
      store_bytes(out + 16 * j + 64, _mm512_maskz_srli_epi32(0xffff, high, 16));
      store_bytes(out + 16 * j + 128, x);
      store_bytes(out + 16 * j + 192, _mm512_maskz_srli_epi32(0xffff, x, 16));
    }
  }
}

/// Elements of A that go with a chunk of codes.
template <int kBits>
constexpr int64_t kLeftChunk = kBits == 4 ? 2 * kNBitsChunk : kNBitsChunk;

/// Sums of kRows rows of A times kColumns of codes, and more to make whole fours.
template <int kRows, int kColumns>
constexpr int kSums = (kRows * kColumns + 3) / 4 * 4;

/// Where a chunk of rows of codes and of rows of A lies. By value, with steps at hand: GCC reads and multiplies members of `p` each time.
struct DotChunk {
  const uint8_t* codes;
  int64_t codes_row;
  int64_t scales_row;
  const int8_t* left;
  int64_t left_row;
  const float* left_scales;
  int64_t left_scales_row;
};

/// A chunk of kColumns rows of codes times the same chunk of kRows rows of A, of kLeft bytes an element, added to the sums. `lane`: the
/// scale that each lane takes, of those that are `live`.
template <int kLeft, int kBits, int kRows, int kColumns>
inline void add_chunk(const DotChunk& at, const float* scales, __m512i lane, __mmask64 bytes, __mmask16 live,
                      __m512 (&sum)[kSums<kRows, kColumns>]) {
  __m512i low[kColumns], high[kColumns];
  __m512 scale[kColumns];
#pragma GCC unroll 4
  for (int j = 0; j < kColumns; ++j) {
    const uint8_t* codes = at.codes + j * at.codes_row;
    _mm_prefetch(reinterpret_cast<const char*>(codes + kAhead), _MM_HINT_T0);
    const __m512i both = _mm512_maskz_loadu_epi8(bytes, codes);
    low[j] = kBits == 4 ? _mm512_and_si512(both, _mm512_set1_epi8(15)) : both;
    high[j] = _mm512_and_si512(_mm512_srli_epi16(both, 4), _mm512_set1_epi8(15));
    scale[j] = _mm512_maskz_permutexvar_ps(0xffff, lane, _mm512_maskz_loadu_ps(live, scales + j * at.scales_row));
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
    const int8_t* left = at.left + i * at.left_row;
    const __m512 left_scale = _mm512_loadu_ps(at.left_scales + i * at.left_scales_row);
#pragma GCC unroll 4
    for (int j = 0; j < kColumns; ++j) {
      __m512i total = _mm512_dpbusd_epi32(_mm512_setzero_si512(), low[j], _mm512_loadu_si512(left));
      if constexpr (kBits == 4) total = _mm512_dpbusd_epi32(total, high[j], _mm512_loadu_si512(left + 64));
      if constexpr (kLeft == 2) {
        total = _mm512_maskz_slli_epi32(0xffff, total, 8);
        total = _mm512_dpbusd_epi32(total, low[j], _mm512_loadu_si512(left + kLeftChunk<kBits>));
        if constexpr (kBits == 4) total = _mm512_dpbusd_epi32(total, high[j], _mm512_loadu_si512(left + 192));
      }
      sum[i * kColumns + j] = _mm512_fmadd_ps(to_floats(total), _mm512_mul_ps(scale[j], left_scale), sum[i * kColumns + j]);
    }
  }
}

__m512 load_codes(__mmask16 live, const uint8_t* codes) {
  return to_floats(_mm512_maskz_cvtepu8_epi32(0xffff, _mm_maskz_loadu_epi8(live, codes)));
}

/// The sums of the lanes of four vectors.
__m128 lane_sums(const __m512* x) {
  const auto pairs = [](__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_maskz_unpacklo_ps(0xffff, a, b), _mm512_maskz_unpackhi_ps(0xffff, a, b));
  };
  const __m512 a = pairs(x[0], x[1]), b = pairs(x[2], x[3]);
  const __m512 four = _mm512_add_ps(_mm512_maskz_shuffle_ps(0xffff, a, b, 0x44), _mm512_maskz_shuffle_ps(0xffff, a, b, 0xee));
  const __m256 half = _mm256_add_ps(_mm512_maskz_extractf32x8_ps(0xff, four, 0), _mm512_maskz_extractf32x8_ps(0xff, four, 1));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

template <int kLeft, int kBits, int kRows, int kColumns>
void dot_columns(const NBitsDotArgs& p, const LaneScales& lane_scales, int64_t n) {
  const int64_t last = (p.row_bytes + kNBitsChunk - 1) / kNBitsChunk - 1, tail = p.row_bytes - last * kNBitsChunk;
  constexpr int kAll = kSums<kRows, kColumns>;
  __m512 sum[kAll];
#pragma GCC unroll 8
  for (int i = 0; i < kAll; ++i) sum[i] = _mm512_setzero_ps();
  DotChunk at{p.codes + n * p.row_bytes, p.row_bytes, p.blocks, p.left, p.left_row, p.lane_scales, p.lane_scales_row};
  const float* const scales = p.scales + n * p.blocks;
  const __m512i lane = lane_scales.lane;
  const __mmask16 whole = lane_scales.whole;
  const int64_t up = lane_scales.up, down = lane_scales.down;
  for (int64_t v = 0; v < last; ++v) {
    add_chunk<kLeft, kBits, kRows, kColumns>(at, scales + (v << up >> down), lane, ~__mmask64{0}, whole, sum);
    at.codes += kNBitsChunk;
    at.left += kLeft * kLeftChunk<kBits>;
    at.left_scales += 16;
  }
  add_chunk<kLeft, kBits, kRows, kColumns>(at, scales + lane_scales.first(last), lane, ~__mmask64{0} >> (kNBitsChunk - tail),
                                           lane_scales.of(last, p.blocks), sum);
  for (int64_t b = 0; b < p.blocks; b += 16) {
    const __mmask16 live = lanes(p.blocks - b);
#pragma GCC unroll 4
    for (int j = 0; j < kColumns; ++j) {
      const int64_t at = (n + j) * p.blocks + b;
      const __m512 zero = p.zero_codes ? load_codes(live, p.zero_codes + at) : _mm512_set1_ps(1 << (kBits - 1));
      const __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(live, p.scales + at), zero);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        __m512& to = sum[i * kColumns + j];
        to = _mm512_fnmadd_ps(scaled, _mm512_loadu_ps(p.left_sums + i * p.left_blocks + b), to);
      }
    }
  }
  float out[kAll];
#pragma GCC unroll 2
  for (int i = 0; i < kAll; i += 4) _mm_storeu_ps(out + i, lane_sums(sum + i));
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) p.c[i * p.c_row + n + j] = out[i * kColumns + j] + (p.bias ? p.bias[n + j] : 0);
  }
}

template <int kLeft, int kBits, int kRows>
void dots(const NBitsDotArgs& p, int64_t first, int64_t end) {
  constexpr int kColumns = kRows == 1 ? 4 : 2;
  const LaneScales lane_scales(kBits, p.block_shift);
  int64_t n = first;
  for (; n + kColumns <= end; n += kColumns) dot_columns<kLeft, kBits, kRows, kColumns>(p, lane_scales, n);
  for (; n < end; ++n) dot_columns<kLeft, kBits, kRows, 1>(p, lane_scales, n);
}

template <int kLeft>
void all_dots(const NBitsDotArgs& p, int64_t first, int64_t end) {
  static constexpr void (*kTable[2][4])(const NBitsDotArgs&, int64_t, int64_t) = {
      {dots<kLeft, 4, 1>, dots<kLeft, 4, 2>, dots<kLeft, 4, 3>, dots<kLeft, 4, 4>},
      {dots<kLeft, 8, 1>, dots<kLeft, 8, 2>, dots<kLeft, 8, 3>, dots<kLeft, 8, 4>}};
  kTable[p.bits == 8 ? 1 : 0][p.rows - 1](p, first, end);
}

/// 16 columns of a row of words.
template <int kBits>
void write_word(__m512i word, __m512i zero, int32_t* to) {
  const __m512i first = _mm512_set1_epi32((1 << kBits) - 1), second = _mm512_set1_epi32(((1 << kBits) - 1) << 16);
#pragma GCC unroll 8
  for (int t = 0; t < 16 / kBits; ++t, to += kNBitsColumns) {
    const __m512i pair =
        _mm512_or_si512(_mm512_and_si512(word, first), _mm512_and_si512(_mm512_maskz_slli_epi32(0xffff, word, 16 - kBits), second));
    _mm512_storeu_si512(to, _mm512_sub_epi16(pair, zero));
    word = _mm512_maskz_srli_epi32(0xffff, word, 2 * kBits);
  }
}

template <int kBits>
void write_all_pairs(const uint32_t* words, int64_t count, const float* zero_points, int64_t block_words, int32_t* pairs) {
  for (int64_t j = 0; j < kNBitsColumns; j += 16) {
    __m512i zero = _mm512_set1_epi16(1 << (kBits - 1));
    for (int64_t w = 0; w < count; ++w) {
      if (zero_points && w % block_words == 0) {
        const __m512i whole = _mm512_maskz_cvtps_epi32(0xffff, _mm512_loadu_ps(zero_points + w / block_words * kNBitsColumns + j));
        zero = _mm512_or_si512(whole, _mm512_maskz_slli_epi32(0xffff, whole, 16));
      }
      write_word<kBits>(_mm512_loadu_si512(words + w * kNBitsColumns + j), zero, pairs + w * (16 / kBits) * kNBitsColumns + j);
    }
  }
}

void write_pairs(const uint32_t* words, int64_t count, int bits, const float* zero_points, int64_t block_words, int32_t* pairs) {
  return bits == 2   ? write_all_pairs<2>(words, count, zero_points, block_words, pairs)
         : bits == 4 ? write_all_pairs<4>(words, count, zero_points, block_words, pairs)
                     : write_all_pairs<8>(words, count, zero_points, block_words, pairs);
}

__m512i repeat_pair(const int16_t* p) {
  int32_t word;
  std::memcpy(&word, p, sizeof(word));
  return _mm512_set1_epi32(word);
}

/// sum += a0 b0 + a1 b1 in each lane. By an instruction of its own: GCC 12 copies the sums of the plain form around each.
void add_pairs(__m512i& sum, __m512i a, __m512i b) {
#if defined(__GNUC__)
  asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
#else
  sum = _mm512_dpwssd_epi32(sum, a, b);
#endif
}

template <int kRows>
void tile(const NBitsTileArgs& p) {
  const __mmask16 live[2] = {lanes(p.columns), lanes(p.columns > 16 ? p.columns - 16 : 0)};
  __m512 sum[kRows][2];
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < 2; ++j)
      sum[i][j] = p.start ? _mm512_loadu_ps(p.start + 16 * j) : _mm512_maskz_loadu_ps(live[j], p.c + i * p.c_row + 16 * j);
  }
  const int32_t* right = p.panel;
  const int16_t* left = p.left;
  for (int64_t b = 0; b < p.blocks; ++b) {
    __m512i part[kRows][2];
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) part[i][0] = part[i][1] = _mm512_setzero_si512();
    for (int64_t t = 0; t < p.pairs; ++t, right += kNBitsColumns, left += 2) {
      const __m512i r0 = _mm512_loadu_si512(right), r1 = _mm512_loadu_si512(right + 16);
#pragma GCC unroll 6
      for (int i = 0; i < kRows; ++i) {
        const __m512i pair = repeat_pair(left + i * p.left_row);
        add_pairs(part[i][0], pair, r0);
        add_pairs(part[i][1], pair, r1);
      }
    }
    const __m512 s0 = _mm512_loadu_ps(p.scales + b * kNBitsColumns), s1 = _mm512_loadu_ps(p.scales + b * kNBitsColumns + 16);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      const __m512 scale = _mm512_set1_ps(p.left_scales[i * p.left_blocks + b]);
      sum[i][0] = _mm512_fmadd_ps(_mm512_mul_ps(to_floats(part[i][0]), scale), s0, sum[i][0]);
      sum[i][1] = _mm512_fmadd_ps(_mm512_mul_ps(to_floats(part[i][1]), scale), s1, sum[i][1]);
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < 2; ++j) _mm512_mask_storeu_ps(p.c + i * p.c_row + 16 * j, live[j], sum[i][j]);
  }
}

constexpr void (*kTiles[])(const NBitsTileArgs&) = {nullptr, tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>};

}  // namespace

extern const NBitsInt16Kernels kAvx512VnniNBits = {quantize, arrange, arrange_lanes, all_dots<2>, all_dots<1>, write_pairs, 6, kTiles};

}  // namespace rh::compute
