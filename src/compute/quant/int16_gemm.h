#pragma once

#include <cstdint>

namespace rh::compute {

/// c[i, j] = sum over k of a[i, k] b[k, j] modulo 2^32, of columns [begin, end) of b [k, n]; rows of a and c are contiguous. Serial; A and
/// B are int16_t or uint16_t.
template <typename A, typename B>
void int16_gemm(int64_t m, int64_t k, int64_t n, int64_t begin, int64_t end, const A* a, const B* b, int32_t* c);

}  // namespace rh::compute
