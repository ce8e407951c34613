#include "compute/quant/int8_depthwise_body.h"

#if defined(__x86_64__) || defined(_M_X64)
#include "compute/quant/int8_depthwise_x86.h"
#elif defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>
#endif

// Vectors of 16 bytes of the instruction set that every processor of this kind has; elsewhere there are no kernels.
namespace rh::compute {

#if defined(__x86_64__) || defined(_M_X64)

namespace {

struct Pairs {
  using Words = __m128i;
  using Packed = __m128i;
  template <int kBytes>
  using Bytes = X86Bytes<kBytes>;
  static constexpr int kLanes = 4, kTaps = 2, kSums = 8;
  static Words load(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
  static void store(void* p, Words x) { _mm_storeu_si128(static_cast<__m128i*>(p), x); }
  static void store_packed(uint8_t* p, Packed x) { store(p, x); }
  static Words add_products(Words sum, Words x, Words w) { return _mm_add_epi32(sum, _mm_madd_epi16(x, w)); }
  template <int kVectors>
  static Packed in_order(Packed x) {
    return x;
  }

  /// Sums as bytes. Signed ones are saturated as unsigned ones 128 above.
  class Packer {
   public:
    explicit Packer(const Int8DepthwiseRow& p)
        : most_(_mm_set1_ps(0x1p20f)),
          zero_(_mm_set1_epi16(static_cast<int16_t>(p.zero + p.shift))),
          low_(_mm_set1_epi8(static_cast<char>(p.low + p.shift))),
          high_(_mm_set1_epi8(static_cast<char>(p.high + p.shift))),
          flip_(_mm_set1_epi8(static_cast<char>(p.shift))) {}
    /// What is too small, and NaN, becomes the least int32.
    Words scaled(Words sum, const float* factors) const {
      return _mm_cvtps_epi32(_mm_min_ps(most_, _mm_mul_ps(_mm_cvtepi32_ps(sum), _mm_loadu_ps(factors))));
    }
    Packed packed(const Words (&four)[4]) const {
      const __m128i first = _mm_adds_epi16(_mm_packs_epi32(four[0], four[1]), zero_);
      const __m128i second = _mm_adds_epi16(_mm_packs_epi32(four[2], four[3]), zero_);
      return _mm_xor_si128(_mm_min_epu8(_mm_max_epu8(_mm_packus_epi16(first, second), low_), high_), flip_);
    }

   private:
    __m128 most_;
    __m128i zero_, low_, high_, flip_;
  };
};

}  // namespace

extern const Int8DepthwiseKernels kGenericInt8Depthwise = int8_depthwise_kernels<Pairs>();

#elif defined(__aarch64__) && defined(__GNUC__)

namespace {

template <int kBytes>
struct Bytes128 {
  static_assert(kBytes == 16);
  using Register = uint8x16_t;
  static Register set(uint8_t x) { return vdupq_n_u8(x); }
  static Register load(const uint8_t* p) { return vld1q_u8(p); }
  static void store(uint8_t* p, Register x) { vst1q_u8(p, x); }
  static Register flip(Register x, Register bits) { return veorq_u8(x, bits); }
  static Register low8(Register a, Register b) { return vzip1q_u8(a, b); }
  static Register high8(Register a, Register b) { return vzip2q_u8(a, b); }
};

struct Pairs {
  using Words = int32x4_t;
  using Packed = uint8x16_t;
  template <int kBytes>
  using Bytes = Bytes128<kBytes>;
  static constexpr int kLanes = 4, kTaps = 2, kSums = 8;
  static Words load(const void* p) { return vreinterpretq_s32_u8(vld1q_u8(static_cast<const uint8_t*>(p))); }
  static void store(int32_t* p, Words x) { vst1q_s32(p, x); }
  static void store_packed(uint8_t* p, Packed x) { vst1q_u8(p, x); }
  static Words add_products(Words sum, Words x, Words w) {
    const int16x8_t a = vreinterpretq_s16_s32(x), b = vreinterpretq_s16_s32(w);
    return vaddq_s32(sum, vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b)));
  }
  template <int kVectors>
  static Packed in_order(Packed x) {
    return x;
  }

  /// Sums as bytes. Signed ones are saturated as unsigned ones 128 above.
  class Packer {
   public:
    explicit Packer(const Int8DepthwiseRow& p)
        : zero_(vdupq_n_s16(static_cast<int16_t>(p.zero + p.shift))),
          low_(vdupq_n_u8(static_cast<uint8_t>(p.low + p.shift))),
          high_(vdupq_n_u8(static_cast<uint8_t>(p.high + p.shift))),
          flip_(vdupq_n_u8(static_cast<uint8_t>(p.shift))) {}
    Words scaled(Words sum, const float* factors) const { return vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(sum), vld1q_f32(factors))); }
    Packed packed(const Words (&four)[4]) const {
      const int16x8_t first = vqaddq_s16(vcombine_s16(vqmovn_s32(four[0]), vqmovn_s32(four[1])), zero_);
      const int16x8_t second = vqaddq_s16(vcombine_s16(vqmovn_s32(four[2]), vqmovn_s32(four[3])), zero_);
      const uint8x16_t bytes = vcombine_u8(vqmovun_s16(first), vqmovun_s16(second));
      return veorq_u8(vminq_u8(vmaxq_u8(bytes, low_), high_), flip_);
    }

   private:
    int16x8_t zero_;
    uint8x16_t low_, high_, flip_;
  };
};

}  // namespace

extern const Int8DepthwiseKernels kGenericInt8Depthwise = int8_depthwise_kernels<Pairs>();

#else

extern const Int8DepthwiseKernels kGenericInt8Depthwise = {};

#endif

}  // namespace rh::compute
