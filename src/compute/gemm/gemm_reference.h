#pragma once

#include <type_traits>

#include "base/thread_pool.h"
#include "compute/gemm/gemm.h"
#include "tensor/float_types.h"

namespace rh::compute {

/// The type in which products of T are summed: float for the half types, int32 for narrow integers, T itself for others.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float,
                                       std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 4), int32_t, T>>;

/// Plain C[m, n] = alpha op(A) op(B) + beta C for any arithmetic type; integers wrap around. Instantiated for float, double, Float16,
/// BFloat16 and the 32- and 64-bit integers. The epilogue may hold a bias and a residual. The oracle of gemm().
template <typename T>
void gemm_reference(const GemmArgs<T>& args, const T* a, const T* b, T* c, const Parallel& parallel);

}  // namespace rh::compute
