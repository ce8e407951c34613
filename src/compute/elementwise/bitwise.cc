#include "compute/elementwise/bitwise.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/bitwise.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/element_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

template <Bitwise kOp, typename T>
HWY_INLINE T applied(T a, T b) {
  // Narrow numbers in 32 bits, which vectors shift by amounts of their own.
  using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;
  constexpr T kBits = 8 * sizeof(T);
  const Wide x = a, amount = b & (kBits - 1);
  switch (kOp) {
    case Bitwise::bit_and: return a & b;
    case Bitwise::bit_or: return a | b;
    case Bitwise::bit_xor: return a ^ b;
    case Bitwise::shift_left: return static_cast<T>(b < kBits ? static_cast<Wide>(x << amount) : Wide(0));
    default: return static_cast<T>(b < kBits ? static_cast<Wide>(x >> amount) : Wide(0));
  }
}

template <typename T>
HWY_INLINE void bitwise_typed(Bitwise op, const void* a, int64_t step_a, const void* b, int64_t step_b, void* y, int64_t count) {
  const T *x = static_cast<const T*>(a), *z = static_cast<const T*>(b);
  T* to = static_cast<T*>(y);
  switch (op) {
    case Bitwise::bit_and: return for_blocks<applied<Bitwise::bit_and, T>>(x, step_a, z, step_b, to, count);
    case Bitwise::bit_or: return for_blocks<applied<Bitwise::bit_or, T>>(x, step_a, z, step_b, to, count);
    case Bitwise::bit_xor: return for_blocks<applied<Bitwise::bit_xor, T>>(x, step_a, z, step_b, to, count);
    case Bitwise::shift_left: return for_blocks<applied<Bitwise::shift_left, T>>(x, step_a, z, step_b, to, count);
    case Bitwise::shift_right: return for_blocks<applied<Bitwise::shift_right, T>>(x, step_a, z, step_b, to, count);
  }
}

void bitwise_loop(Bitwise op, int bytes, const void* a, int64_t step_a, const void* b, int64_t step_b, void* y, int64_t count) {
  switch (bytes) {
    case 1: return bitwise_typed<uint8_t>(op, a, step_a, b, step_b, y, count);
    case 2: return bitwise_typed<uint16_t>(op, a, step_a, b, step_b, y, count);
    case 4: return bitwise_typed<uint32_t>(op, a, step_a, b, step_b, y, count);
    default: return bitwise_typed<uint64_t>(op, a, step_a, b, step_b, y, count);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(bitwise_loop);

void bitwise(Bitwise op, int bytes, const void* a, int64_t step_a, const void* b, int64_t step_b, void* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(bitwise_loop)(op, bytes, a, step_a, b, step_b, y, count);
}

void complement(const void* x, void* y, int64_t bytes) {
  const uint8_t ones = 0xff;
  bitwise(Bitwise::bit_xor, 1, x, 1, &ones, 0, y, bytes);
}

}  // namespace rh::compute
#endif
