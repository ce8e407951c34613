#include "compute/quant/int16_gemm.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/quant/int16_gemm.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Rows [row, row + kRows) of two vectors of columns.
template <int kRows, typename A, typename B>
HWY_INLINE void tile(int64_t k, int64_t n, const A* a, const B* b, int32_t* c) {
  const hn::ScalableTag<int32_t> d;
  const hn::Rebind<B, decltype(d)> narrow;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  auto s00 = zero, s01 = zero, s10 = zero, s11 = zero, s20 = zero, s21 = zero, s30 = zero, s31 = zero;
  for (int64_t i = 0; i < k; ++i, b += n) {
    const auto b0 = hn::PromoteTo(d, hn::LoadU(narrow, b)), b1 = hn::PromoteTo(d, hn::LoadU(narrow, b + lanes));
    const auto add = [&](int row, auto& sum0, auto& sum1) HWY_ATTR {
      const auto left = hn::Set(d, static_cast<int32_t>(a[row * k + i]));
      sum0 = hn::Add(sum0, hn::Mul(left, b0));
      sum1 = hn::Add(sum1, hn::Mul(left, b1));
    };
    add(0, s00, s01);
    if constexpr (kRows > 1) add(1, s10, s11);
    if constexpr (kRows > 1) add(2, s20, s21);
    if constexpr (kRows > 1) add(3, s30, s31);
  }
  const auto store = [&](int row, auto sum0, auto sum1) HWY_ATTR {
    hn::StoreU(sum0, d, c + row * n);
    hn::StoreU(sum1, d, c + row * n + lanes);
  };
  store(0, s00, s01);
  if constexpr (kRows > 1) store(1, s10, s11);
  if constexpr (kRows > 1) store(2, s20, s21);
  if constexpr (kRows > 1) store(3, s30, s31);
}

template <typename A, typename B>
HWY_INLINE void product(int64_t m, int64_t k, int64_t n, int64_t begin, int64_t end, const A* a, const B* b, int32_t* c) {
  const int64_t width = 2 * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<int32_t>()));
  int64_t j = begin;
  for (; j + width <= end; j += width) {
    int64_t row = 0;
    for (; row + 4 <= m; row += 4) tile<4>(k, n, a + row * k, b + j, c + row * n + j);
    for (; row < m; ++row) tile<1>(k, n, a + row * k, b + j, c + row * n + j);
  }
  for (int64_t row = 0; j < end && row < m; ++row) {
    for (int64_t at = j; at < end; ++at) {
      uint32_t sum = 0;
      for (int64_t i = 0; i < k; ++i)
        sum += static_cast<uint32_t>(static_cast<int64_t>(a[row * k + i]) * static_cast<int64_t>(b[i * n + at]));
      c[row * n + at] = static_cast<int32_t>(sum);
    }
  }
}

#define RH_INT16_PRODUCT(NAME, A, B)                                                                           \
  void NAME(int64_t m, int64_t k, int64_t n, int64_t begin, int64_t end, const A* a, const B* b, int32_t* c) { \
    product<A, B>(m, k, n, begin, end, a, b, c);                                                               \
  }
RH_INT16_PRODUCT(product_ss, int16_t, int16_t)
RH_INT16_PRODUCT(product_su, int16_t, uint16_t)
RH_INT16_PRODUCT(product_us, uint16_t, int16_t)
RH_INT16_PRODUCT(product_uu, uint16_t, uint16_t)
#undef RH_INT16_PRODUCT

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <type_traits>

namespace rh::compute {

HWY_EXPORT(product_ss);
HWY_EXPORT(product_su);
HWY_EXPORT(product_us);
HWY_EXPORT(product_uu);

template <typename A, typename B>
void int16_gemm(int64_t m, int64_t k, int64_t n, int64_t begin, int64_t end, const A* a, const B* b, int32_t* c) {
  if constexpr (std::is_signed_v<A> && std::is_signed_v<B>) {
    HWY_DYNAMIC_DISPATCH(product_ss)(m, k, n, begin, end, a, b, c);
  } else if constexpr (std::is_signed_v<A>) {
    HWY_DYNAMIC_DISPATCH(product_su)(m, k, n, begin, end, a, b, c);
  } else if constexpr (std::is_signed_v<B>) {
    HWY_DYNAMIC_DISPATCH(product_us)(m, k, n, begin, end, a, b, c);
  } else {
    HWY_DYNAMIC_DISPATCH(product_uu)(m, k, n, begin, end, a, b, c);
  }
}

template void int16_gemm(int64_t, int64_t, int64_t, int64_t, int64_t, const int16_t*, const int16_t*, int32_t*);
template void int16_gemm(int64_t, int64_t, int64_t, int64_t, int64_t, const int16_t*, const uint16_t*, int32_t*);
template void int16_gemm(int64_t, int64_t, int64_t, int64_t, int64_t, const uint16_t*, const int16_t*, int32_t*);
template void int16_gemm(int64_t, int64_t, int64_t, int64_t, int64_t, const uint16_t*, const uint16_t*, int32_t*);

}  // namespace rh::compute
#endif
