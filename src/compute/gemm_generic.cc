#include <array>
#include <utility>

#include "compute/gemm_micro_body.h"
#include "compute/vector_generic.h"

namespace rh::compute {
namespace {

// Two registers a row hold the sums: 64-bit Arm has 32 registers, SSE2 16. No more rows than columns: products of one pixel swap the two.
#if defined(__aarch64__)
constexpr int kFloatRows = 8;
#else
constexpr int kFloatRows = 4;
#endif
constexpr int kDoubleRows = 4;

/// Kernels of 1 to kRows rows, by their number.
template <typename V, int kRows, int kWidth>
constexpr auto kernels_of_width() {
  return []<int... kRow>(std::integer_sequence<int, kRow...>) {
    return std::array<typename MicroKernels<typename V::T>::Kernel, kRows + 1>{nullptr, micro_kernel<V, kRow + 1, kWidth>...};
  }(std::make_integer_sequence<int, kRows>());
}

template <typename V, int kRows, int kWidth>
constexpr auto kKernels = kernels_of_width<V, kRows, kWidth>();

}  // namespace

extern const MicroKernels<float> kGenericFloat = {
    kFloatRows, 8, 4, kKernels<Float, kFloatRows, 2>.data(), kKernels<Float, kFloatRows, 1>.data(), dot_kernel<Float>};
extern const MicroKernels<double> kGenericDouble = {
    kDoubleRows, 4, 2, kKernels<Double, kDoubleRows, 2>.data(), kKernels<Double, kDoubleRows, 1>.data(), dot_kernel<Double>};

}  // namespace rh::compute
