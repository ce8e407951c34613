#include <immintrin.h>

#include <cstring>

#include "compute/quant/int8_micro_body.h"

namespace rh::compute {
namespace {

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
  static Register multiply_pairs(Register a, Register b) { return _mm256_madd_epi16(a, b); }
  static Register add(Register a, Register b) { return _mm256_add_epi32(a, b); }
  static void store(int32_t* p, Register x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
};

template <int kVectors>
struct Table {
  static constexpr Int8Kernels::Kernel rows[] = {nullptr, int16_micro_kernel<Pairs, 1, kVectors>, int16_micro_kernel<Pairs, 2, kVectors>,
                                                 int16_micro_kernel<Pairs, 3, kVectors>};
};

}  // namespace

extern const Int8Kernels kAvx2Int8 = {3, 16, 2, Table<4>::rows, Table<2>::rows};

}  // namespace rh::compute
