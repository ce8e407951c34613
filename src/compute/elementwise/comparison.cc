#include "compute/elementwise/comparison.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/comparison.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/element_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

template <typename T>
HWY_INLINE bool equal(T a, T b) {
  return a == b;
}
template <typename T>
HWY_INLINE bool less(T a, T b) {
  return a < b;
}
template <typename T>
HWY_INLINE bool less_equal(T a, T b) {
  return a <= b;
}
template <typename T>
HWY_INLINE bool unordered(T a, T b) {
  return (a != a) | (b != b);
}

template <typename T>
HWY_INLINE void compare_typed(Comparison kind, const void* a, int64_t step_a, const void* b, int64_t step_b, bool* y, int64_t count) {
  const T *x = static_cast<const T*>(a), *z = static_cast<const T*>(b);
  switch (kind) {
    case Comparison::equal: return for_blocks<equal<T>>(x, step_a, z, step_b, y, count);
    case Comparison::less: return for_blocks<less<T>>(x, step_a, z, step_b, y, count);
    case Comparison::less_equal: return for_blocks<less_equal<T>>(x, step_a, z, step_b, y, count);
    case Comparison::unordered: return for_blocks<unordered<T>>(x, step_a, z, step_b, y, count);
  }
}

void compare_loop(Comparison kind, DType dtype, const void* a, int64_t step_a, const void* b, int64_t step_b, bool* y, int64_t count) {
  switch (dtype) {
    case DType::int8: return compare_typed<int8_t>(kind, a, step_a, b, step_b, y, count);
    case DType::uint8: return compare_typed<uint8_t>(kind, a, step_a, b, step_b, y, count);
    case DType::int16: return compare_typed<int16_t>(kind, a, step_a, b, step_b, y, count);
    case DType::uint16: return compare_typed<uint16_t>(kind, a, step_a, b, step_b, y, count);
    case DType::int32: return compare_typed<int32_t>(kind, a, step_a, b, step_b, y, count);
    case DType::uint32: return compare_typed<uint32_t>(kind, a, step_a, b, step_b, y, count);
    case DType::int64: return compare_typed<int64_t>(kind, a, step_a, b, step_b, y, count);
    case DType::uint64: return compare_typed<uint64_t>(kind, a, step_a, b, step_b, y, count);
    case DType::float64: return compare_typed<double>(kind, a, step_a, b, step_b, y, count);
    default: return compare_typed<float>(kind, a, step_a, b, step_b, y, count);
  }
}

template <typename T>
HWY_INLINE void either_row(const T* x, T first, T second, bool* y, int64_t count) {
  for_blocks(y, count, [=](int64_t i) HWY_ATTR { return (x[i] == first) | (x[i] == second); });
}

void either_float_loop(const float* x, float first, float second, bool* y, int64_t count) { either_row(x, first, second, y, count); }
void either_double_loop(const double* x, double first, double second, bool* y, int64_t count) { either_row(x, first, second, y, count); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(compare_loop);
HWY_EXPORT(either_float_loop);
HWY_EXPORT(either_double_loop);

void compare(Comparison kind, DType dtype, const void* a, int64_t step_a, const void* b, int64_t step_b, bool* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(compare_loop)(kind, dtype, a, step_a, b, step_b, y, count);
}
void is_either(const float* x, float first, float second, bool* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(either_float_loop)(x, first, second, y, count);
}
void is_either(const double* x, double first, double second, bool* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(either_double_loop)(x, first, second, y, count);
}

}  // namespace rh::compute
#endif
