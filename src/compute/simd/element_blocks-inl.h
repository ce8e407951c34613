// Loops over elements by blocks of a known length, which compilers vectorise for the target at hand without checks for overlap.
#if defined(RH_COMPUTE_ELEMENT_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RH_COMPUTE_ELEMENT_BLOCKS_INL_H
#undef RH_COMPUTE_ELEMENT_BLOCKS_INL_H
#else
#define RH_COMPUTE_ELEMENT_BLOCKS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

constexpr int64_t kBlockLength = 64;

/// y[i] = f(i), a block before it is stored.
template <typename R, typename F>
HWY_INLINE void for_blocks(R* y, int64_t count, F f) {
  int64_t i = 0;
  for (; i + kBlockLength <= count; i += kBlockLength) {
    R block[kBlockLength];
    for (int64_t k = 0; k < kBlockLength; ++k) block[k] = f(i + k);
    std::memcpy(y + i, block, sizeof(block));
  }
  for (; i < count; ++i) y[i] = f(i);
}

/// y[i] = kFunction(a[i * step_a], b[i * step_b]), steps 0 or 1; y may be an operand with step 1 of elements as wide.
template <auto kFunction, typename T, typename R>
HWY_INLINE void for_blocks(const T* a, int64_t step_a, const T* b, int64_t step_b, R* y, int64_t count) {
  if (count <= 0) return;
  const T first = *a, second = *b;
  if (step_a && step_b)
    for_blocks(y, count, [=](int64_t i) HWY_ATTR { return kFunction(a[i], b[i]); });
  else if (step_b)
    for_blocks(y, count, [=](int64_t i) HWY_ATTR { return kFunction(first, b[i]); });
  else if (step_a)
    for_blocks(y, count, [=](int64_t i) HWY_ATTR { return kFunction(a[i], second); });
  else
    std::fill_n(y, count, kFunction(first, second));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#endif
