#pragma once

#include "compute/quant/nbits_int16_micro.h"

// Plain data alone: this header is compiled with the flags of every instruction set.
namespace rh::compute {

/// Whole numbers of 8 bits that rows of A become lie within plus and minus this.
inline constexpr float kInt8Most = 127;
/// Added to them where they are kept unsigned.
inline constexpr int kInt8Offset = 128;

/// A row of A in 8 bits.
struct NBitsByteRow {
  uint8_t* values;  ///< [elements], kInt8Offset added
  float* scales;    ///< [blocks, and as many zeros as make 16 of the last]
  float* sums;      ///< of the blocks, times their scales, alike; or null
};

/// Codes of one panel's columns along some blocks.
struct NBitsPanelArgs {
  int bits;
  int64_t blocks;
  int64_t block_words;       ///< of codes
  const uint8_t* codes;      ///< [columns, blocks * block_words] words
  int64_t codes_row;         ///< bytes between columns
  int64_t columns;           ///< that exist: up to kNBitsColumns
  const float* zero_points;  ///< [blocks, kNBitsColumns] whole numbers, or null: 2^(bits - 1)
  int32_t* fours;            ///< out: four codes of a column, their zero points taken off, as int8
  int32_t* starts;           ///< out: [blocks, kNBitsColumns], what kInt8Offset in A adds to the sums, with the other sign
};

/// A tile of C: rows of A in 8 bits times one panel of codes.
struct NBitsByteTileArgs {
  int64_t blocks;
  int64_t fours;        ///< of codes along k in a block
  const uint8_t* left;  ///< [rows, ...]
  int64_t left_row;     ///< bytes between rows
  const float* left_scales;
  const float* left_sums;  ///< used where `zeros` is not null
  int64_t left_blocks;     ///< elements between rows of both
  const int32_t* panel;    ///< as NBitsPanelArgs has them
  const int32_t* starts;
  const float* scales;  ///< [blocks, kNBitsColumns]
  const float* zeros;   ///< [blocks, kNBitsColumns]: what the panel's codes have too much, times the scale and -1; or null
  const float* start;   ///< [kNBitsColumns], or null: C holds what the product is added to
  float* c;
  int64_t c_row;
  int64_t columns;  ///< of C that exist
};

struct NBitsInt8Kernels {
  /// One row of A [k] as whole numbers and a scale a block: `elements` of them, a multiple of 64, which reach the end of the last block.
  /// They lie in the order in which a panel has its codes. Of a block with an infinity or NaN the scale is NaN.
  void (*quantize)(const float* a, int64_t k, int64_t block, int64_t elements, int bits, const NBitsByteRow& row);
  /// Such a row for NBitsInt16Kernels::byte_dots(): `chunks` chunks, for 4 bits kNBitsChunk even elements and the odd ones, else in order.
  void (*arrange)(const uint8_t* row, int64_t chunks, int bits, int8_t* out);
  void (*write_panel)(const NBitsPanelArgs& args);
  const NBitsInt16Kernels* dots;                       ///< whose byte_dots() takes few rows
  int64_t rows;                                        ///< of a tile
  void (*const* tile)(const NBitsByteTileArgs& args);  ///< [rows + 1]: for tiles of 1..rows rows
};

/// Of processors that have nothing better: few rows of A times codes of 4 or 8 bits in blocks of 32 to 256.
struct NBitsByteDotKernels {
  /// One row of A [k] as whole numbers [blocks * block], for 4 bits of every 32 the even ones before the odd ones, a scale a block, and the
  /// sums of the blocks times their scales. Of a block with an infinity or NaN the scale is NaN.
  void (*quantize)(const float* a, int64_t k, int64_t block, int64_t blocks, int bits, int8_t* out, float* scales, float* sums);
  /// As NBitsInt16Kernels::dots(); `lane_scales` are those of the blocks.
  void (*dots)(const NBitsDotArgs& args, int64_t first, int64_t end);
};

extern const NBitsInt8Kernels kAvx512VnniNBitsInt8;
extern const NBitsByteDotKernels kAvx2NBitsBytes;

}  // namespace rh::compute
