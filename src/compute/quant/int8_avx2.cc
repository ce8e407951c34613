#include <immintrin.h>

#include <cstring>

#include "compute/quant/int8_micro_body.h"
#include "compute/simd/inlined.h"

namespace rh::compute {
namespace {

constexpr int kColumns = 16;  // of a panel

struct Pairs {
  using Register = __m256i;
  static constexpr int kColumns = 4, kPanelColumns = 16;
  static Register zero() { return _mm256_setzero_si256(); }
  static Register widen(const uint8_t* p) { return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
  static Register repeat4(const int16_t* p) {
    int64_t word;
    std::memcpy(&word, p, sizeof(word));
    return _mm256_set1_epi64x(word);
  }
  static Register repeat(int32_t x) { return _mm256_set1_epi32(x); }
  static Register load(const int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static Register multiply_pairs(Register a, Register b) { return _mm256_madd_epi16(a, b); }
  static Register add(Register a, Register b) { return _mm256_add_epi32(a, b); }
  /// The sums of neighbours, in their order.
  static Register add_parts(Register a, Register b) { return _mm256_permute4x64_epi64(_mm256_hadd_epi32(a, b), 0b11011000); }
  static void store(int32_t* p, Register x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
};

/// Six rows by eight columns: with twice as many columns half as many rows would fit the registers, at two thirds of the speed.
struct PairTable {
  template <int kRows>
  static constexpr Int8Kernels::Kernel half = int16_micro_kernel<Pairs, kRows, 2>;
  template <int kRows>
  static constexpr Int8Kernels::Kernel whole = both_halves<half<kRows>, kColumns>;
};

__m256i load_bytes(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

/// What is computed before stays before.
inline void in_turn([[maybe_unused]] __m256i& x) {
#if defined(__GNUC__)
  asm volatile("" : "+x"(x));
#endif
}

/// sum += a b of a group; A is bytes, of which pairs of products add up in 16 bits.
template <int kRows, int kVectors>
RH_INLINED inline void add_group(const uint8_t* const* rows, int64_t at, const uint8_t* b, __m256i (&sum)[kRows][kVectors]) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i right[kVectors];
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) right[j] = load_bytes(b + j * 32);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    int32_t word;
    std::memcpy(&word, rows[i] + at, sizeof(word));
    __m256i left = _mm256_set1_epi32(word);
    in_turn(left);  // row by row: else products of all rows are begun at once, in registers that are not there
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = _mm256_add_epi32(sum[i][j], _mm256_madd_epi16(_mm256_maddubs_epi16(left, right[j]), ones));
      in_turn(sum[i][j]);
    }
  }
}

template <int kRows, int kVectors>
void bytes_micro_kernel(const Int8MicroArgs& p) {
  __m256i sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm256_setzero_si256();
  }
  const uint8_t* b = static_cast<const uint8_t*>(p.b);
  const uint8_t* rest = p.rests.values;
  int64_t next = 0;  // of the rests
  for (int64_t s = 0; s < p.segments; ++s) {
    const uint8_t* a = static_cast<const uint8_t*>(p.a) + p.segment_offset[s];
    const uint8_t* row[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) row[i] = a + p.row_offset[i];
    for (int64_t g = 0; g < p.groups; ++g, b += kColumns * kInt8Group) add_group<kRows, kVectors>(row, g * kInt8Group, b, sum);
    const int64_t first = s * p.groups;
    for (; next < p.rests.count && p.rests.at[next] < first + p.groups; ++next, rest += kColumns * kInt8Group) {
      add_group<kRows, kVectors>(row, (p.rests.at[next] - first) * kInt8Group, rest, sum);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    const __m256i row_start = _mm256_set1_epi32(p.row_start[i]);
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      const __m256i start = _mm256_add_epi32(row_start, Pairs::load(p.column_start + j * 8));
      Pairs::store(p.c + i * p.c_row + j * 8, _mm256_add_epi32(sum[i][j], start));
    }
  }
}

struct BytesTable {
  template <int kRows>
  static constexpr Int8Kernels::Kernel half = bytes_micro_kernel<kRows, 1>;
  template <int kRows>
  static constexpr Int8Kernels::Kernel whole = bytes_micro_kernel<kRows, 2>;
};

template <typename Table>
struct Rows {
  static constexpr Int8Kernels::Kernel whole[] = {nullptr,
                                                  Table::template whole<1>,
                                                  Table::template whole<2>,
                                                  Table::template whole<3>,
                                                  Table::template whole<4>,
                                                  Table::template whole<5>,
                                                  Table::template whole<6>};
  static constexpr Int8Kernels::Kernel half[] = {nullptr,
                                                 Table::template half<1>,
                                                 Table::template half<2>,
                                                 Table::template half<3>,
                                                 Table::template half<4>,
                                                 Table::template half<5>,
                                                 Table::template half<6>};
};

}  // namespace

extern const Int8Kernels kAvx2Int8 = {6, kColumns, 2, Rows<PairTable>::whole, Rows<PairTable>::half};
extern const Int8Kernels kAvx2BytesInt8 = {6, kColumns, 1, Rows<BytesTable>::whole, Rows<BytesTable>::half};

}  // namespace rh::compute
