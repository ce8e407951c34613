#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace rh::compute {

/// C[m, n] = A[m, k] B[k, n] of 32- or 64-bit integers, which wrap around.
void integer_gemm(const int32_t* a, const int32_t* b, int32_t* c, int64_t m, int64_t n, int64_t k, const Parallel& parallel);
void integer_gemm(const int64_t* a, const int64_t* b, int64_t* c, int64_t m, int64_t n, int64_t k, const Parallel& parallel);

}  // namespace rh::compute
