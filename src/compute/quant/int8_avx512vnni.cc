#include <immintrin.h>

#include <cstring>

#include "compute/quant/int8_micro.h"

namespace rh::compute {
namespace {

constexpr int kPanelBytes = 2 * 64;

__m512i repeat4(const uint8_t* p) {
  int32_t word;
  std::memcpy(&word, p, sizeof(word));
  return _mm512_set1_epi32(word);
}

/// vpdpbusd adds four products of an unsigned and a signed byte to an int32, exactly.
template <int kRows, int kVectors>
void micro_kernel(const Int8MicroArgs& p) {
  __m512i sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = _mm512_add_epi32(_mm512_set1_epi32(p.row_start[i]), _mm512_loadu_si512(p.column_start + 16 * j));
    }
  }
  const uint8_t* b = static_cast<const uint8_t*>(p.b);
  const int64_t bytes = p.groups * kInt8Group;
  for (int64_t s = 0; s < p.segments; ++s) {
    const uint8_t* a = static_cast<const uint8_t*>(p.a) + p.segment_offset[s];
    const uint8_t* row[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) row[i] = a + p.row_offset[i];
    for (int64_t k = 0; k < bytes; k += kInt8Group, b += kPanelBytes) {
      __m512i right[kVectors];
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) right[j] = _mm512_loadu_si512(b + 64 * j);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const __m512i left = repeat4(row[i] + k);
#pragma GCC unroll 2
        for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm512_dpbusd_epi32(sum[i][j], left, right[j]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) _mm512_storeu_si512(p.c + i * p.c_row + 16 * j, sum[i][j]);
  }
}

template <int kVectors>
struct Table {
  static constexpr Int8Kernels::Kernel rows[] = {nullptr,
                                                 micro_kernel<1, kVectors>,
                                                 micro_kernel<2, kVectors>,
                                                 micro_kernel<3, kVectors>,
                                                 micro_kernel<4, kVectors>,
                                                 micro_kernel<5, kVectors>,
                                                 micro_kernel<6, kVectors>,
                                                 micro_kernel<7, kVectors>,
                                                 micro_kernel<8, kVectors>,
                                                 micro_kernel<9, kVectors>,
                                                 micro_kernel<10, kVectors>,
                                                 micro_kernel<11, kVectors>,
                                                 micro_kernel<12, kVectors>,
                                                 micro_kernel<13, kVectors>,
                                                 micro_kernel<14, kVectors>};
};

// Products by a right operand that lies as it came. Columns are taken 64 at a time, in four vectors: unpacking leaves columns 16 l + 4 q of
// lane l in vector q, which is put right when the sums are complete.

constexpr int kQuads = 4;
constexpr int64_t kGroupsAtOnce = 16;  // between which the sums lie in memory

/// Four rows of B as groups along k.
[[gnu::always_inline]] inline void interleave(const uint8_t* const* rows, int64_t at, __mmask64 live, __m512i flip, __m512i* out) {
  __m512i row[kInt8Group];
#pragma GCC unroll 4
  for (int t = 0; t < kInt8Group; ++t) row[t] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(live, rows[t] + at), flip);
  const __m512i low01 = _mm512_unpacklo_epi8(row[0], row[1]), high01 = _mm512_unpackhi_epi8(row[0], row[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(row[2], row[3]), high23 = _mm512_unpackhi_epi8(row[2], row[3]);
  out[0] = _mm512_unpacklo_epi16(low01, low23);
  out[1] = _mm512_unpackhi_epi16(low01, low23);
  out[2] = _mm512_unpacklo_epi16(high01, high23);
  out[3] = _mm512_unpackhi_epi16(high01, high23);
}

/// Columns 16 l to 16 l + 15 in vector l.
[[gnu::always_inline]] inline void in_order(const int32_t* from, __m512i* out) {
  __m512i v[kQuads];
#pragma GCC unroll 4
  for (int q = 0; q < kQuads; ++q) v[q] = _mm512_loadu_si512(from + 16 * q);
  const __m512i low01 = _mm512_shuffle_i32x4(v[0], v[1], 0x44), high01 = _mm512_shuffle_i32x4(v[0], v[1], 0xEE);
  const __m512i low23 = _mm512_shuffle_i32x4(v[2], v[3], 0x44), high23 = _mm512_shuffle_i32x4(v[2], v[3], 0xEE);
  out[0] = _mm512_shuffle_i32x4(low01, low23, 0x88);
  out[1] = _mm512_shuffle_i32x4(low01, low23, 0xDD);
  out[2] = _mm512_shuffle_i32x4(high01, high23, 0x88);
  out[3] = _mm512_shuffle_i32x4(high01, high23, 0xDD);
}

/// Groups of rows of B, of up to kInt8Chunk columns from `column` on; interleaved they follow each other.
struct GroupsOfRows {
  const uint8_t* const* rows;
  int64_t column, group, count;
  __mmask64 live;
  uint8_t* interleaved;
};

/// Adds their products to the first kRows rows of sums and to the sums of the columns, and with `keeps` keeps them interleaved.
template <int kRows, bool keeps>
[[gnu::noinline]] void add_first_rows(const Int8UnpackedArgs& p, const GroupsOfRows& b) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(p.flip)), ones = _mm512_set1_epi8(1);
  const uint8_t* a = p.a + b.group * kInt8Group;
  int32_t *c = p.c + b.column, *column_sums = p.column_sums + b.column;
  __m512i sum[kRows][kQuads], of_columns[kQuads];
#pragma GCC unroll 4
  for (int q = 0; q < kQuads; ++q) {
    of_columns[q] = _mm512_loadu_si512(column_sums + 16 * q);
#pragma GCC unroll 2
    for (int i = 0; i < kRows; ++i) sum[i][q] = _mm512_loadu_si512(c + i * p.c_row + 16 * q);
  }
  for (int64_t g = 0; g < b.count; ++g) {
    __m512i right[kQuads];
    interleave(b.rows + g * kInt8Group, b.column, b.live, flip, right);
#pragma GCC unroll 4
    for (int q = 0; q < kQuads; ++q) {
      if constexpr (keeps) _mm512_storeu_si512(b.interleaved + (g * kQuads + q) * 64, right[q]);
      of_columns[q] = _mm512_dpbusd_epi32(of_columns[q], ones, right[q]);
#pragma GCC unroll 2
      for (int i = 0; i < kRows; ++i) {
        sum[i][q] = _mm512_dpbusd_epi32(sum[i][q], repeat4(a + i * p.a_row + g * kInt8Group), right[q]);
      }
    }
  }
#pragma GCC unroll 4
  for (int q = 0; q < kQuads; ++q) {
    _mm512_storeu_si512(column_sums + 16 * q, of_columns[q]);
#pragma GCC unroll 2
    for (int i = 0; i < kRows; ++i) _mm512_storeu_si512(c + i * p.c_row + 16 * q, sum[i][q]);
  }
}

/// Adds the products of what was kept to kRows rows of sums from `row` on.
template <int kRows>
[[gnu::noinline]] void add_rows(const Int8UnpackedArgs& p, int64_t row, const GroupsOfRows& b) {
  const uint8_t* a = p.a + row * p.a_row + b.group * kInt8Group;
  int32_t* c = p.c + row * p.c_row + b.column;
  __m512i sum[kRows][kQuads];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int q = 0; q < kQuads; ++q) sum[i][q] = _mm512_loadu_si512(c + i * p.c_row + 16 * q);
  }
  for (int64_t g = 0; g < b.count; ++g) {
    __m512i right[kQuads];
#pragma GCC unroll 4
    for (int q = 0; q < kQuads; ++q) right[q] = _mm512_loadu_si512(b.interleaved + (g * kQuads + q) * 64);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const __m512i left = repeat4(a + i * p.a_row + g * kInt8Group);
#pragma GCC unroll 4
      for (int q = 0; q < kQuads; ++q) sum[i][q] = _mm512_dpbusd_epi32(sum[i][q], left, right[q]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int q = 0; q < kQuads; ++q) _mm512_storeu_si512(c + i * p.c_row + 16 * q, sum[i][q]);
  }
}

void add_groups(const Int8UnpackedArgs& p, const GroupsOfRows& b) {
  if (p.rows == 1) return add_first_rows<1, false>(p, b);
  if (p.rows == 2) return add_first_rows<2, false>(p, b);
  add_first_rows<2, true>(p, b);
  for (int64_t row = 2; row < p.rows; row += 6) {
    switch (p.rows - row) {
      case 1: add_rows<1>(p, row, b); break;
      case 2: add_rows<2>(p, row, b); break;
      case 3: add_rows<3>(p, row, b); break;
      case 4: add_rows<4>(p, row, b); break;
      case 5: add_rows<5>(p, row, b); break;
      default: add_rows<6>(p, row, b);
    }
  }
}

/// Columns of all rows in order, with what zero points and bias add.
void finish(const Int8UnpackedArgs& p) {
  for (int64_t j = 0; j < p.columns; j += kInt8Chunk) {
    __m512i sums[kQuads], of_columns[kQuads], zero[kQuads], bias[kQuads];
    in_order(p.column_sums + j, of_columns);
    for (int l = 0; l < kQuads; ++l) {
      const int64_t left = p.columns - j - 16 * l;
      const auto live = static_cast<__mmask16>(left >= 16 ? 0xFFFF : left <= 0 ? 0 : (1 << left) - 1);
      zero[l] = _mm512_maskz_loadu_epi32(live, p.b_zero + j + 16 * l);
      bias[l] = p.bias ? _mm512_maskz_loadu_epi32(live, p.bias + j + 16 * l) : _mm512_setzero_si512();
    }
    for (int64_t i = 0; i < p.rows; ++i) {
      int32_t* c = p.c + i * p.c_row + j;
      const __m512i a_zero = _mm512_set1_epi32(p.a_zero[i]), weight = _mm512_set1_epi32(p.weight[i]);
      in_order(c, sums);
#pragma GCC unroll 4
      for (int l = 0; l < kQuads; ++l) {
        const __m512i less = _mm512_add_epi32(_mm512_mullo_epi32(a_zero, of_columns[l]), _mm512_mullo_epi32(weight, zero[l]));
        _mm512_storeu_si512(c + 16 * l, _mm512_sub_epi32(_mm512_add_epi32(sums[l], bias[l]), less));
      }
    }
  }
}

void unpacked(const Int8UnpackedArgs& p) {
  const int64_t width = (p.columns + kInt8Chunk - 1) / kInt8Chunk * kInt8Chunk, all = (p.k + kInt8Group - 1) / kInt8Group;
  std::memset(p.column_sums, 0, static_cast<size_t>(width) * sizeof(int32_t));
  for (int64_t i = 0; i < p.rows; ++i) std::memset(p.c + i * p.c_row, 0, static_cast<size_t>(width) * sizeof(int32_t));
  alignas(64) uint8_t interleaved[kGroupsAtOnce * kInt8Group * kInt8Chunk];
  for (int64_t group = 0; group < all; group += kGroupsAtOnce) {
    const int64_t groups = all - group < kGroupsAtOnce ? all - group : kGroupsAtOnce;
    const uint8_t* rows[kGroupsAtOnce * kInt8Group];
    for (int64_t t = 0; t < groups * kInt8Group; ++t) {
      const int64_t k = group * kInt8Group + t;
      rows[t] = k < p.k ? p.b + k * p.b_row : p.zeros;
    }
    for (int64_t j = 0; j < p.columns; j += kInt8Chunk) {
      const __mmask64 live = p.columns - j < kInt8Chunk ? ~0ull >> (kInt8Chunk - (p.columns - j)) : ~0ull;
      add_groups(p, {rows, j, group, groups, live, interleaved});
    }
  }
  finish(p);
}

}  // namespace

extern const Int8Kernels kAvx512VnniInt8 = {14, 32, 1, Table<2>::rows, Table<1>::rows, unpacked};

}  // namespace rh::compute
