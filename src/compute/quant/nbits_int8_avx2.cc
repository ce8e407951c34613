#include <immintrin.h>

#include <cstring>

#include "compute/quant/nbits_int8_micro.h"
#include "compute/simd/inlined.h"

namespace rh::compute {
namespace {

constexpr int kInfinity = 0x7f800000, kMagnitude = 0x7fffffff;
constexpr float kTiny = 1e-30f;  // largest magnitudes below have an infinite reciprocal
constexpr int64_t kChunk = 32;   // codes that are multiplied at once
constexpr int64_t kMostBlock = 256;

__m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
void store(void* p, __m256i x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }

int32_t most_of_lanes(__m256i x) {
  int32_t lanes[8], most = 0;
  store(lanes, x);
  for (const int32_t lane : lanes) most = lane > most ? lane : most;
  return most;
}

int32_t sum_of_lanes(__m256i x) {
  int32_t lanes[8], sum = 0;
  store(lanes, x);
  for (const int32_t lane : lanes) sum += lane;
  return sum;
}

float sum_of_lanes(__m256 x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1)), two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/// 32 floats times a factor as whole numbers, in order or the even ones before the odd ones; `sum` takes them up.
__m256i round_chunk(const float* from, __m256 factor, bool splits, __m256i& sum) {
  __m256i whole[4];
  for (int i = 0; i < 4; ++i) {
    whole[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(from + 8 * i), factor));
    sum = _mm256_add_epi32(sum, whole[i]);
  }
  const __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(whole[0], whole[1]), _mm256_packs_epi32(whole[2], whole[3]));
  const __m256i bytes = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  if (!splits) return bytes;
  const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
  return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(order)), 0b11011000);
}

void quantize(const float* a, int64_t k, int64_t block, int64_t blocks, int bits, int8_t* out, float* scales, float* sums) {
  for (int64_t b = 0; b < blocks; ++b, out += block) {
    alignas(32) float values[kMostBlock] = {};
    const int64_t begin = b * block, count = k - begin < block ? k - begin : block;
    std::memcpy(values, a + begin, static_cast<size_t>(count) * sizeof(float));
    __m256i most_bits = _mm256_setzero_si256();
    for (int64_t i = 0; i < block; i += 8)
      most_bits = _mm256_max_epi32(most_bits, _mm256_and_si256(load(values + i), _mm256_set1_epi32(kMagnitude)));
    const int32_t bits_of_most = most_of_lanes(most_bits);
    float most;
    std::memcpy(&most, &bits_of_most, sizeof(most));
    const bool is_finite = bits_of_most < kInfinity, is_usual = is_finite && most >= kTiny;
    const __m256 factor = _mm256_set1_ps(is_usual ? kInt8Most / most : 0);
    scales[b] = is_usual ? most / kInt8Most : is_finite ? 0 : __builtin_nanf("");
    __m256i sum = _mm256_setzero_si256();
    for (int64_t i = 0; i < block; i += kChunk) store(out + i, round_chunk(values + i, factor, bits == 4, sum));
    sums[b] = static_cast<float>(sum_of_lanes(sum)) * scales[b];
  }
}

/// Sums of the products of one block of codes of 4 bits, which stay within 16 bits up to kMostBlock.
template <int kRows>
RH_INLINED inline void add_block4(const uint8_t* codes, const int8_t* left, int64_t left_row, int64_t block, __m256i (&sum)[kRows]) {
  const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
  for (int i = 0; i < kRows; ++i) sum[i] = _mm256_setzero_si256();
  for (int64_t k = 0; k < block; k += kChunk) {
    const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + k / 2));
    const __m256i right = _mm256_and_si256(_mm256_inserti128_si256(_mm256_castsi128_si256(both), _mm_srli_epi16(both, 4), 1), low);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) sum[i] = _mm256_add_epi16(sum[i], _mm256_maddubs_epi16(right, load(left + i * left_row + k)));
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) sum[i] = _mm256_madd_epi16(sum[i], ones);
}

/// The same of codes of 8 bits less 128, whose magnitudes take the sign of A's.
template <int kRows>
RH_INLINED inline void add_block8(const uint8_t* codes, const int8_t* left, int64_t left_row, int64_t block, __m256i (&sum)[kRows]) {
  const __m256i middle = _mm256_set1_epi8(-128), ones = _mm256_set1_epi16(1);
  for (int i = 0; i < kRows; ++i) sum[i] = _mm256_setzero_si256();
  for (int64_t k = 0; k < block; k += kChunk) {
    const __m256i right = _mm256_xor_si256(load(codes + k), middle), magnitude = _mm256_abs_epi8(right);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      const __m256i pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(load(left + i * left_row + k), right));
      sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(pairs, ones));
    }
  }
}

constexpr int64_t kTogether = 8;  // blocks whose scales are multiplied together
constexpr int64_t kAhead = 2048;  // bytes that codes are prefetched ahead

/// Up to kTogether floats, zeros behind them.
__m256 load_some(const float* from, int64_t count) {
  if (count >= kTogether) return _mm256_loadu_ps(from);
  float some[kTogether] = {};
  std::memcpy(some, from, static_cast<size_t>(count) * sizeof(float));
  return _mm256_loadu_ps(some);
}
__m256 load_codes(const uint8_t* from, int64_t count) {
  int64_t some = 0;
  std::memcpy(&some, from, static_cast<size_t>(count < kTogether ? count : kTogether));
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(some)));
}

/// `count` blocks of one row of codes from block b on. total: even and odd blocks apart; late: what zero points take off them, of codes of
/// 8 bits beyond the 128 that are taken off before. kShift is p.block_shift, or 0 where that is known as it runs only.
template <int kBits, int kRows, int kShift>
RH_INLINED inline void add_blocks(const NBitsDotArgs& p, int64_t n, int64_t b, int64_t count, __m256 (&total)[kRows][2],
                                  __m256 (&late)[kRows]) {
  const int64_t block = int64_t{1} << (kShift ? kShift : p.block_shift), block_bytes = block * kBits / 8;
  const uint8_t* codes = p.codes + n * p.row_bytes + b * block_bytes;
  for (int64_t at = 0; at < kTogether * block_bytes; at += 64)
    _mm_prefetch(reinterpret_cast<const char*>(codes + kAhead + at), _MM_HINT_T0);
  const int8_t* left = p.left + b * block;
  const __m256 scales = load_some(p.scales + n * p.blocks + b, count);
  __m256 zeros = _mm256_set1_ps(kBits == 4 ? 8 : 0);
  if (p.zero_codes) zeros = _mm256_sub_ps(load_codes(p.zero_codes + n * p.blocks + b, count), _mm256_set1_ps(kBits == 4 ? 0 : 128));
  const __m256 scaled_zeros = _mm256_mul_ps(scales, zeros);
  alignas(32) float products[kRows][kTogether];
  for (int i = 0; i < kRows; ++i) {  // rows of scales and sums go on behind their last block
    _mm256_store_ps(products[i], _mm256_mul_ps(scales, _mm256_loadu_ps(p.lane_scales + i * p.lane_scales_row + b)));
    late[i] = _mm256_fmadd_ps(scaled_zeros, _mm256_loadu_ps(p.left_sums + i * p.left_blocks + b), late[i]);
  }
  const auto add = [&](int64_t at, int chain) RH_INLINED {
    __m256i sum[kRows];
    if constexpr (kBits == 4) {
      add_block4<kRows>(codes + at * block_bytes, left + at * block, p.left_row, block, sum);
    } else {
      add_block8<kRows>(codes + at * block_bytes, left + at * block, p.left_row, block, sum);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i)
      total[i][chain] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[i]), _mm256_set1_ps(products[i][at]), total[i][chain]);
  };
  int64_t at = 0;
  for (; at + 2 <= count; at += 2) {
    add(at, 0);
    add(at + 1, 1);
  }
  if (at < count) add(at, 0);
}

template <int kBits, int kRows, int kShift>
void dots(const NBitsDotArgs& p, int64_t first, int64_t end) {
  for (int64_t n = first; n < end; ++n) {
    __m256 total[kRows][2], late[kRows];
    for (int i = 0; i < kRows; ++i) total[i][0] = total[i][1] = late[i] = _mm256_setzero_ps();
    for (int64_t b = 0; b < p.blocks; b += kTogether) {
      add_blocks<kBits, kRows, kShift>(p, n, b, p.blocks - b < kTogether ? p.blocks - b : kTogether, total, late);
    }
    for (int i = 0; i < kRows; ++i) {
      const float sum = sum_of_lanes(_mm256_sub_ps(_mm256_add_ps(total[i][0], total[i][1]), late[i]));
      p.c[i * p.c_row + n] = p.bias ? sum + p.bias[n] : sum;
    }
  }
}

/// Blocks of 32, of which most models are, have loops of their own; one row, as decoders have at each step, larger ones too.
template <int kBits, int kRows>
void dots_of_block(const NBitsDotArgs& p, int64_t first, int64_t end) {
  if (p.block_shift == 5) return dots<kBits, kRows, 5>(p, first, end);
  if constexpr (kRows == 1) {
    if (p.block_shift == 6) return dots<kBits, 1, 6>(p, first, end);
    if (p.block_shift == 7) return dots<kBits, 1, 7>(p, first, end);
  }
  dots<kBits, kRows, 0>(p, first, end);
}

template <int kBits>
void dots_of_rows(const NBitsDotArgs& p, int64_t first, int64_t end) {
  switch (p.rows) {
    case 1: return dots_of_block<kBits, 1>(p, first, end);
    case 2: return dots_of_block<kBits, 2>(p, first, end);
    case 3: return dots_of_block<kBits, 3>(p, first, end);
    default: return dots_of_block<kBits, 4>(p, first, end);
  }
}

void all_dots(const NBitsDotArgs& p, int64_t first, int64_t end) {
  p.bits == 4 ? dots_of_rows<4>(p, first, end) : dots_of_rows<8>(p, first, end);
}

}  // namespace

extern const NBitsByteDotKernels kAvx2NBitsBytes = {quantize, all_dots};

}  // namespace rh::compute
