#include <immintrin.h>

#include "compute/int8_micro.h"

namespace rh::compute {
namespace {

constexpr int kVectors = 2;

__m512i repeat4(const uint8_t* p) { return _mm512_set1_epi32(*reinterpret_cast<const int32_t __attribute__((may_alias, aligned(1)))*>(p)); }

/// vpdpbusd adds four products of an unsigned and a signed byte to an int32, exactly.
template <int kRows, bool kRightUnsigned>
void micro_kernel(const Int8MicroArgs& p) {
  __m512i sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = _mm512_add_epi32(_mm512_set1_epi32(p.row_start[i]), _mm512_loadu_si512(p.column_start + 16 * j));
    }
  }
  // Three row pointers five rows apart, so that every row is reached by one of them plus a small multiple of the stride.
  const uint8_t* a0 = static_cast<const uint8_t*>(p.a);
  const uint8_t* a1 = a0 + 5 * p.a_row;
  const uint8_t* a2 = a0 + 10 * p.a_row;
  const uint8_t* b = static_cast<const uint8_t*>(p.b);
  const int64_t a_row = p.a_row;
  for (int64_t g = 0; g < p.groups; ++g) {
    const __m512i right[kVectors] = {_mm512_loadu_si512(b), _mm512_loadu_si512(b + 64)};
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const __m512i left = repeat4((i < 5 ? a0 : i < 10 ? a1 : a2) + i % 5 * a_row);
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        sum[i][j] = kRightUnsigned ? _mm512_dpbusd_epi32(sum[i][j], right[j], left) : _mm512_dpbusd_epi32(sum[i][j], left, right[j]);
      }
    }
    a0 += kInt8Group;
    a1 += kInt8Group;
    a2 += kInt8Group;
    b += kVectors * 64;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) _mm512_storeu_si512(p.c + i * p.c_row + 16 * j, sum[i][j]);
  }
}

template <bool kRightUnsigned>
struct Table {
  static constexpr Int8Kernels::Kernel rows[] = {nullptr,
                                                 micro_kernel<1, kRightUnsigned>,
                                                 micro_kernel<2, kRightUnsigned>,
                                                 micro_kernel<3, kRightUnsigned>,
                                                 micro_kernel<4, kRightUnsigned>,
                                                 micro_kernel<5, kRightUnsigned>,
                                                 micro_kernel<6, kRightUnsigned>,
                                                 micro_kernel<7, kRightUnsigned>,
                                                 micro_kernel<8, kRightUnsigned>,
                                                 micro_kernel<9, kRightUnsigned>,
                                                 micro_kernel<10, kRightUnsigned>,
                                                 micro_kernel<11, kRightUnsigned>,
                                                 micro_kernel<12, kRightUnsigned>};
};

}  // namespace

extern const Int8Kernels kAvx512VnniInt8 = {12, 32, 1, Table<false>::rows, Table<true>::rows};

}  // namespace rh::compute
