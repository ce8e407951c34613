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

}  // namespace

extern const Int8Kernels kAvx512VnniInt8 = {14, 32, 1, Table<2>::rows, Table<1>::rows};

}  // namespace rh::compute
