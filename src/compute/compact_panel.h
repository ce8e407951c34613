#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
//
// Panels of 32 columns of floats near 1 in 28 bits each, without loss: products of few rows wait for memory to give their weights. Of a
// float's exponent four bits are kept, those of magnitudes from 2^-12 to 2^4, which scaled weights have but for a few; these exceptions
// stand behind the codes as they are. The bits of the exponent that seven words have free hold an eighth.
//
// Four rows of a panel, 128 values, are eight vectors of 16. Lane by lane, word i of 7 holds the sign, the four bits and the mantissa of
// value i where a float has them, and in bits 27 to 30 a part of value 7: bits 4 i to 4 i + 3 of it, of which the last has the sign in
// bit 27.
namespace rh::compute {

inline constexpr int64_t kCompactRows = 4;     ///< of a panel, that are encoded together
inline constexpr int64_t kCompactWords = 112;  ///< that they take
inline constexpr int64_t kCompactWidth = 32;   ///< columns
inline constexpr uint32_t kCompactBits = 0x87ffffff;
inline constexpr uint32_t kCompactBase = uint32_t{115} << 23;  ///< what is added to the four bits of an exponent
inline constexpr double kCompactLeast = 0x1p-12;               ///< what stands in the place of exceptions

/// A value that 28 bits do not hold.
struct CompactException {
  uint32_t index;  ///< row x kCompactWidth + column
  float value;
};

inline constexpr int64_t compact_groups(int64_t rows) { return (rows + kCompactRows - 1) / kCompactRows; }
/// Exceptions that a panel of so many rows has room for.
inline constexpr int64_t compact_exceptions(int64_t rows) { return 7 + rows * kCompactWidth / 512; }
/// Words of a panel: codes, the number of exceptions in two words, exceptions; a multiple of 16.
inline constexpr int64_t compact_words(int64_t rows) {
  return compact_groups(rows) * kCompactWords + (2 + 2 * compact_exceptions(rows) + 15) / 16 * 16;
}

/// A few rows of A times columns of a compact panel.
struct CompactFew {
  const uint32_t* panel;
  int64_t rows;    ///< of the panel
  int64_t fold;    ///< groups that are added up before they join a longer sum
  const float* a;  ///< [rows of A, a_row]: zeros stand behind the panel's rows, to a multiple of 4
  int64_t a_row;   ///< between rows
  float* sums;     ///< [rows of A, kCompactWidth]
};

inline constexpr int64_t kMostCompactFew = 8;

/// What of a panel, [rows, kCompactWidth], are values; the rest is zeros that fill it up.
struct CompactValues {
  int64_t rows;
  int64_t columns;
};

/// Encodes a panel [rows, kCompactWidth] as compact_words(rows) words; false where it has more exceptions than room. What fills it up
/// comes back as zeros in rows and as anything finite in columns.
bool encode_compact(const float* panel, int64_t rows, const CompactValues& values, uint32_t* to);

/// Rows [begin, begin + count) of a panel of `rows` rows, of which `live` are values; begin is a multiple of kCompactRows, and whole groups
/// are written.
void decode_compact(const uint32_t* panel, int64_t rows, int64_t live, int64_t begin, int64_t count, float* to);

/// The exceptions of a panel whose codes were multiplied.
void add_compact_exceptions(const CompactFew& few, int64_t a_rows);

/// For processors with AVX-512.
struct CompactKernels {
  void (*decode)(const uint32_t* codes, int64_t groups, float* to);
  void (*const* few)(const CompactFew&);  ///< [kMostCompactFew + 1]: by the rows of A
};
extern const CompactKernels kAvx512Compact;

}  // namespace rh::compute
