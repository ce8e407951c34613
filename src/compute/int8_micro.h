#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
namespace rh::compute {

/// Values along k that lie together.
inline constexpr int64_t kInt8Group = 4;

/// One tile of int32 sums: c[i, j] = column_start[j] + row_start[i] + sum over k of a[i, k] b[k, j], modulo 2^32.
struct Int8MicroArgs {
  int64_t groups;  ///< of 4 along k
  const void* a;   ///< elements as Int8Kernels::left_bytes says, rows contiguous along k
  int64_t a_row;   ///< elements between rows
  const void* b;   ///< a panel [groups][columns][4] of bytes
  int32_t* c;
  int64_t c_row;
  const int32_t* column_start;  ///< [columns]
  const int32_t* row_start;     ///< [rows]
};

struct Int8Kernels {
  using Kernel = void (*)(const Int8MicroArgs&);
  int64_t rows;
  int64_t columns;               ///< of a panel; whole panels are computed
  int64_t left_bytes;            ///< of an element of A: 1, or 2 where A is widened to int16 beforehand
  const Kernel* left_unsigned;   ///< [rows + 1]: A in 0..255, B in -128..127
  const Kernel* right_unsigned;  ///< [rows + 1]: A in -128..127, B in 0..255
};

extern const Int8Kernels kGenericInt8, kAvx2Int8, kAvx512Int8, kAvx512VnniInt8;

}  // namespace rh::compute
