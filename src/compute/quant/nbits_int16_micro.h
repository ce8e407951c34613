#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
namespace rh::compute {

/// Whole numbers of 16 bits that rows of A become lie within plus and minus this: 127 high bytes and a low one.
inline constexpr float kInt16Most = 32639;
/// Bytes of codes that are read at once where they lie.
inline constexpr int64_t kNBitsChunk = 64;
/// Columns of a panel of codes.
inline constexpr int64_t kNBitsColumns = 32;

/// Rows of 4- or 8-bit codes times rows of A in 16 or 8 bits, where the codes lie.
struct NBitsDotArgs {
  int bits;
  int64_t row_bytes;          ///< of codes
  int64_t blocks;             ///< along k
  int64_t block_shift;        ///< a block has 2^block_shift codes
  const uint8_t* codes;       ///< [n, row_bytes]
  const float* scales;        ///< [n, blocks]
  const uint8_t* zero_codes;  ///< [n, blocks], or null: 2^(bits - 1)
  int64_t rows;               ///< of A, 1 to 4
  const int8_t* left;         ///< of each row: as arrange() of the kernels of 16 or of 8 bits writes it
  int64_t left_row;           ///< bytes between rows of `left`
  const float* lane_scales;   ///< of each row: as NBitsInt16Kernels::arrange_lanes() writes them
  int64_t lane_scales_row;
  const float* left_sums;  ///< [rows, left_blocks]: of the blocks of A
  int64_t left_blocks;     ///< `blocks`, and as many zeros as make 16 of the last
  const float* bias;       ///< [n] or null
  float* c;
  int64_t c_row;
};

/// A tile of C: rows of A in 16 bits times one panel of codes.
struct NBitsTileArgs {
  int64_t blocks;
  int64_t pairs;        ///< of codes along k in a block
  const int16_t* left;  ///< [rows, ...]
  int64_t left_row;     ///< elements between rows
  const float* left_scales;
  int64_t left_blocks;   ///< elements between their rows
  const int32_t* panel;  ///< [blocks * pairs, kNBitsColumns] pairs of int16, their zero points taken off
  const float* scales;   ///< [blocks, kNBitsColumns]
  const float* start;    ///< [kNBitsColumns], or null: C holds what the product is added to
  float* c;
  int64_t c_row;
  int64_t columns;  ///< of C that exist
};

struct NBitsInt16Kernels {
  /// One row of A as whole numbers [blocks * block] times a scale a block, and the sums of the blocks. Of a block with an infinity or NaN
  /// the scale is NaN.
  void (*quantize)(const float* a, int64_t k, int64_t block, int64_t blocks, int16_t* out, float* scales, float* sums);
  /// `chunks` chunks of a row, each two times kNBitsChunk high bytes (of the even and odd elements) and two times the low ones; for 8 bits
  /// one of each, in order.
  void (*arrange)(const int16_t* row, int64_t chunks, int bits, int8_t* out);
  /// 16 scales of A a chunk: what the lanes of sums are multiplied by.
  void (*arrange_lanes)(const float* scales, int64_t blocks, int64_t block_shift, int64_t chunks, int bits, float* out);
  /// Rows [first, end) of the codes times rows of A in 16 bits, and in 8.
  void (*dots)(const NBitsDotArgs& args, int64_t first, int64_t end);
  void (*byte_dots)(const NBitsDotArgs& args, int64_t first, int64_t end);
  /// `count` rows of words [kNBitsColumns] of codes as rows of pairs, less the zero points, which lie a row a block.
  void (*write_pairs)(const uint32_t* words, int64_t count, int bits, const float* zero_points, int64_t block_words, int32_t* pairs);
  int64_t rows;                                    ///< of a tile
  void (*const* tile)(const NBitsTileArgs& args);  ///< [rows + 1]: for tiles of 1..rows rows
};

extern const NBitsInt16Kernels kAvx512VnniNBits;

}  // namespace rh::compute
