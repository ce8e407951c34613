#include <immintrin.h>

#include "compute/int8_micro_body.h"

namespace rh::compute {
namespace {

struct Pairs {
  using Register = __m512i;
  static constexpr int kColumns = 8;
  static Register zero() { return _mm512_setzero_si512(); }
  template <bool kUnsigned>
  static Register widen(const uint8_t* p) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return kUnsigned ? _mm512_cvtepu8_epi16(bytes) : _mm512_cvtepi8_epi16(bytes);
  }
  static Register repeat4(const int16_t* p) {
    return _mm512_set1_epi64(*reinterpret_cast<const int64_t __attribute__((may_alias, aligned(2)))*>(p));
  }
  static Register multiply_pairs(Register a, Register b) { return _mm512_madd_epi16(a, b); }
  static Register add(Register a, Register b) { return _mm512_add_epi32(a, b); }
  static void store(int32_t* p, Register x) { _mm512_storeu_si512(p, x); }
};

template <bool kRightUnsigned>
struct Table {
  static constexpr Int8Kernels::Kernel rows[] = {nullptr,
                                                 int16_micro_kernel<Pairs, 1, 4, kRightUnsigned>,
                                                 int16_micro_kernel<Pairs, 2, 4, kRightUnsigned>,
                                                 int16_micro_kernel<Pairs, 3, 4, kRightUnsigned>,
                                                 int16_micro_kernel<Pairs, 4, 4, kRightUnsigned>,
                                                 int16_micro_kernel<Pairs, 5, 4, kRightUnsigned>,
                                                 int16_micro_kernel<Pairs, 6, 4, kRightUnsigned>};
};

}  // namespace

extern const Int8Kernels kAvx512Int8 = {6, 32, 2, Table<false>::rows, Table<true>::rows};

}  // namespace rh::compute
