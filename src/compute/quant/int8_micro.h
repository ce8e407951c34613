#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
namespace rh::compute {

/// Values along k that lie together.
inline constexpr int64_t kInt8Group = 4;
/// Rows that no kernel's tile exceeds.
inline constexpr int64_t kInt8MaxRows = 14;

/// What was taken out of groups of a panel so that pairs of products fit 16 bits: b[at[i]] of the whole is that of the panel and
/// values[i].
struct Int8Rests {
  int64_t count = 0;
  const int32_t* at = nullptr;      ///< [count], ascending: numbers of groups, counted through all segments
  const uint8_t* values = nullptr;  ///< [count][columns][4] of bytes
};

/// One tile of int32 sums: c[i, j] = column_start[j] + row_start[i] + sum over k of a[i, k] b[k, j], modulo 2^32. What a row reads lies in
/// segments: k counts the segments and, in each, 4 groups elements that lie together. Offsets are in bytes.
struct Int8MicroArgs {
  int64_t groups;  ///< of 4 along k in a segment
  int64_t segments;
  const void* a;                  ///< elements as Int8Kernels::left_bytes says
  const int64_t* row_offset;      ///< [rows]
  const int64_t* segment_offset;  ///< [segments]
  const void* b;                  ///< a panel [segments * groups][columns][4] of bytes
  int32_t* c;
  int64_t c_row;
  const int32_t* column_start;  ///< [columns]
  const int32_t* row_start;     ///< [rows]
  Int8Rests rests = {};         ///< of the panel; kernels that do not take pairs of bytes have none
};

/// A product of few rows by a right operand that lies as it came, in `columns` columns of it:
/// c[i, j] = bias[j] + sum over k of (a[i, k] - a_zero[i]) (b[k, j] - b_zero[j]), modulo 2^32.
struct Int8UnpackedArgs {
  int64_t rows, k, columns;
  const uint8_t* a;  ///< [rows][4 groups], unsigned, 0 from k on
  int64_t a_row;
  const uint8_t* b;  ///< [k][columns], signed once flipped
  int64_t b_row;
  uint8_t flip;
  const uint8_t* zeros;   ///< [columns]: bytes that are 0 once flipped, for the rows behind k
  const int32_t* a_zero;  ///< [rows]
  const int32_t* weight;  ///< [rows]: the sum of the row less k times its zero point, which the zero points of B take
  const int32_t* b_zero;  ///< [columns]
  const int32_t* bias;    ///< [columns] or null
  int32_t* c;             ///< columns up to a multiple of kInt8Chunk are written
  int64_t c_row;
  int32_t* column_sums;  ///< scratch, as a row of c
};
inline constexpr int64_t kInt8Chunk = 64;

/// A in 0..255, B in -128..127.
struct Int8Kernels {
  using Kernel = void (*)(const Int8MicroArgs&);
  int64_t rows;
  int64_t columns;                                      ///< of a panel
  int64_t left_bytes;                                   ///< of an element of A: 1, or 2 where A is widened to int16 beforehand
  const Kernel* whole;                                  ///< [rows + 1]: of all columns
  const Kernel* half;                                   ///< [rows + 1]: of the first half of the columns alone
  void (*unpacked)(const Int8UnpackedArgs&) = nullptr;  ///< null: there is none

  /// For a panel of which so many columns are wanted.
  const Kernel* of_columns(int64_t wanted) const { return 2 * wanted <= columns ? half : whole; }
};

extern const Int8Kernels kGenericInt8, kAvx2Int8, kAvx512Int8, kAvx512VnniInt8;
/// The sums of two products saturate in 16 bits: of panels that int8_split_groups() went through alone.
extern const Int8Kernels kAvx2BytesInt8;

}  // namespace rh::compute
