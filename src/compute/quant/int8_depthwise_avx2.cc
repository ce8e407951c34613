#include <immintrin.h>

#include "compute/quant/int8_depthwise_body.h"
#include "compute/quant/int8_depthwise_x86.h"

namespace rh::compute {
namespace {

struct Pairs {
  using Words = __m256i;
  using Packed = __m256i;
  template <int kBytes>
  using Bytes = X86Bytes<kBytes>;
  static constexpr int kLanes = 8, kTaps = 2, kSums = 8;
  static Words load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static void store(void* p, Words x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }
  static void store_packed(uint8_t* p, Packed x) { store(p, x); }
  static Words add_products(Words sum, Words x, Words w) { return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w)); }
  /// Packing leaves, of every four vectors, the words of one block side by side.
  template <int kVectors>
  static Packed in_order(Packed x) {
    return kVectors == 4 ? x : _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }

  /// Sums as bytes. Signed ones are saturated as unsigned ones 128 above.
  class Packer {
   public:
    explicit Packer(const Int8DepthwiseRow& p)
        : most_(_mm256_set1_ps(0x1p20f)),
          zero_(_mm256_set1_epi16(static_cast<int16_t>(p.zero + p.shift))),
          low_(_mm256_set1_epi8(static_cast<char>(p.low + p.shift))),
          high_(_mm256_set1_epi8(static_cast<char>(p.high + p.shift))),
          flip_(_mm256_set1_epi8(static_cast<char>(p.shift))) {}
    /// What is too small, and NaN, becomes the least int32.
    Words scaled(Words sum, const float* factors) const {
      return _mm256_cvtps_epi32(_mm256_min_ps(most_, _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(factors))));
    }
    Packed packed(const Words (&four)[4]) const {
      const __m256i first = _mm256_adds_epi16(_mm256_packs_epi32(four[0], four[1]), zero_);
      const __m256i second = _mm256_adds_epi16(_mm256_packs_epi32(four[2], four[3]), zero_);
      const __m256i bytes = _mm256_min_epu8(_mm256_max_epu8(_mm256_packus_epi16(first, second), low_), high_);
      return _mm256_xor_si256(bytes, flip_);
    }

   private:
    __m256 most_;
    __m256i zero_, low_, high_, flip_;
  };
};

}  // namespace

extern const Int8DepthwiseKernels kAvx2Int8Depthwise = int8_depthwise_kernels<Pairs>();

}  // namespace rh::compute
