#include <immintrin.h>

#include <cstring>

#include "compute/quant/int8_micro_body.h"

namespace rh::compute {
namespace {

struct Pairs {
  using Register = __m512i;
  static constexpr int kColumns = 8, kPanelColumns = 32;
  static Register zero() { return _mm512_setzero_si512(); }
  static Register widen(const uint8_t* p) { return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static Register repeat4(const int16_t* p) {
    int64_t word;
    std::memcpy(&word, p, sizeof(word));
    return _mm512_set1_epi64(word);
  }
  static Register multiply_pairs(Register a, Register b) { return _mm512_madd_epi16(a, b); }
  static Register add(Register a, Register b) { return _mm512_add_epi32(a, b); }
  static Register repeat(int32_t x) { return _mm512_set1_epi32(x); }
  static Register load(const int32_t* p) { return _mm512_loadu_si512(p); }
  /// The sums of neighbours, in their order.
  static Register add_parts(Register a, Register b) {
    const Register even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const Register odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    return add(_mm512_permutex2var_epi32(a, even, b), _mm512_permutex2var_epi32(a, odd, b));
  }
  static void store(int32_t* p, Register x) { _mm512_storeu_si512(p, x); }
};

template <int kVectors>
struct Table {
  static constexpr Int8Kernels::Kernel rows[] = {nullptr,
                                                 int16_micro_kernel<Pairs, 1, kVectors>,
                                                 int16_micro_kernel<Pairs, 2, kVectors>,
                                                 int16_micro_kernel<Pairs, 3, kVectors>,
                                                 int16_micro_kernel<Pairs, 4, kVectors>,
                                                 int16_micro_kernel<Pairs, 5, kVectors>,
                                                 int16_micro_kernel<Pairs, 6, kVectors>};
};

}  // namespace

extern const Int8Kernels kAvx512Int8 = {6, 32, 2, Table<4>::rows, Table<2>::rows};

}  // namespace rh::compute
