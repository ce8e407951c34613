#include <immintrin.h>

#include "compute/int8_micro_body.h"

namespace rh::compute {
namespace {

struct Pairs {
  using Register = __m256i;
  static constexpr int kColumns = 4;
  static Register zero() { return _mm256_setzero_si256(); }
  template <bool kUnsigned>
  static Register widen(const uint8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return kUnsigned ? _mm256_cvtepu8_epi16(bytes) : _mm256_cvtepi8_epi16(bytes);
  }
  static Register repeat4(const int16_t* p) {
    return _mm256_set1_epi64x(*reinterpret_cast<const int64_t __attribute__((may_alias, aligned(2)))*>(p));
  }
  static Register multiply_pairs(Register a, Register b) { return _mm256_madd_epi16(a, b); }
  static Register add(Register a, Register b) { return _mm256_add_epi32(a, b); }
  static void store(int32_t* p, Register x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
};

template <bool kRightUnsigned>
struct Table {
  static constexpr Int8Kernels::Kernel rows[] = {nullptr, int16_micro_kernel<Pairs, 1, 4, kRightUnsigned>,
                                                 int16_micro_kernel<Pairs, 2, 4, kRightUnsigned>,
                                                 int16_micro_kernel<Pairs, 3, 4, kRightUnsigned>};
};

}  // namespace

extern const Int8Kernels kAvx2Int8 = {3, 16, 2, Table<false>::rows, Table<true>::rows};

}  // namespace rh::compute
