#pragma once

#include <cstdint>

#include "base/function_ref.h"
#include "base/thread_pool.h"

namespace rh::compute {

/// Weights of 2, 4 or 8 bits, quantised in blocks along k: weight [n, k] is (code - zero point) x scale of its block.
/// Row n's codes lie at data + n * row_bytes(), the first in the low bits.
struct NBitsMatrix {
  int64_t n = 0, k = 0;
  int bits = 4;
  int64_t block = 32;                   ///< a multiple of the codes in a byte
  const uint8_t* data = nullptr;        ///< [n, blocks, block * bits / 8]
  const float* scales = nullptr;        ///< [n, blocks]
  const float* zero_points = nullptr;   ///< [n, blocks]; without either: 2^(bits - 1)
  const uint8_t* zero_codes = nullptr;  ///< [n, blocks]: zero points that are codes, in place of zero_points
  const int32_t* block_of_k = nullptr;  ///< [k], each in [0, blocks): the block whose scale goes with column k; null: k / block
  int64_t blocks() const { return (k + block - 1) / block; }
  float zero_point(int64_t at) const {
    return zero_points ? zero_points[at] : zero_codes ? static_cast<float>(zero_codes[at]) : static_cast<float>(1 << (bits - 1));
  }
  int64_t row_bytes() const { return blocks() * block * bits / 8; }
};

/// Rows [first, first + count) as floats [count, k].
void nbits_dequantize(const NBitsMatrix& matrix, int64_t first, int64_t count, float* out);

/// Writes rows [first, first + count) of a matrix [n, k] as floats; called from several threads.
using FloatRows = FunctionRef<void(int64_t first, int64_t count, float* out)>;
/// c [m, n] = a [m, k] times the transpose of the matrix that `rows` gives, a piece at a time, + bias (n values or null).
void multiply_rows(int64_t n, int64_t k, FloatRows rows, int64_t m, const float* a, const float* bias, float* c, const Parallel& parallel);

/// How exactly A is read.
enum class NBitsLeft : uint8_t {
  exact,
  rounded,  ///< to whole multiples of 1/32639 of the largest magnitude in its block, where that is faster
  bytes,    ///< to whole multiples of 1/127 of it, where that is faster yet
};

/// How m rows of A are read where `asked` is allowed, on the processor at hand: with AVX2 few of them alone as bytes.
NBitsLeft nbits_left(const NBitsMatrix& matrix, NBitsLeft asked, int64_t m = 1);

/// c [m, n] = a [m, k] times the transposed matrix + bias (n values or null), summed in float. The bits do not depend on the number of
/// threads.
void nbits_multiply(const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c, const Parallel& parallel,
                    NBitsLeft left = NBitsLeft::exact);

}  // namespace rh::compute
