#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
//
// Panels of 32 columns of floats near 1 in fewer bits, without loss: products of few rows wait for memory to give their weights. Of a
// float's exponent only the bits are kept in which scaled weights differ, but for a few of them; these exceptions stand behind the codes as
// they are. Four rows of a panel, 128 values, are eight vectors of 16, which are encoded together, lane by lane:
//
// bits28: any float of a magnitude from 2^-12 to 2^4. Word i of 7 holds the sign, four bits of the exponent and the mantissa of value i
// where a float has them, and in bits 27 to 30, which are free, a part of value 7: bits 4 i to 4 i + 3 of it, of which the last has the
// sign in bit 27.
//
// bits16: magnitudes from 2^-24 to 2^8 of at most 11 bits, as weights have that once were of a half type: sign, five bits of the exponent
// and ten of the mantissa. Word i of 4 holds value 2 i in its lower and value 2 i + 1 in its upper half.
namespace rh::compute {

enum class CompactForm : uint8_t { none, bits28, bits16 };

inline constexpr int64_t kCompactRows = 4;    ///< of a panel, that are encoded together
inline constexpr int64_t kCompactWidth = 32;  ///< columns
/// Words that four rows take.
inline constexpr int64_t compact_group(CompactForm form) { return form == CompactForm::bits28 ? 112 : 64; }
/// The least magnitude that a code stands for; as the code 0 it stands in the place of exceptions.
inline constexpr int compact_least_exponent(CompactForm form) { return form == CompactForm::bits28 ? -12 : -24; }
inline constexpr uint32_t compact_base(CompactForm form) { return static_cast<uint32_t>(127 + compact_least_exponent(form)) << 23; }

/// A value that no code stands for.
struct CompactException {
  uint32_t index;  ///< row x kCompactWidth + column
  float value;
};

inline constexpr int64_t compact_groups(int64_t rows) { return (rows + kCompactRows - 1) / kCompactRows; }
/// Exceptions that a panel of so many rows has room for.
inline constexpr int64_t compact_exceptions(int64_t rows) { return 7 + rows * kCompactWidth / 512; }
/// Words of a panel: codes, the number of exceptions in two words, exceptions; a multiple of 16.
inline constexpr int64_t compact_words(CompactForm form, int64_t rows) {
  return compact_groups(rows) * compact_group(form) + (2 + 2 * compact_exceptions(rows) + 15) / 16 * 16;
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

/// Encodes a panel [rows, kCompactWidth] as compact_words(form, rows) words; false where it has more exceptions than room. What fills it
/// up comes back as zeros in rows and as anything finite in columns.
bool encode_compact(CompactForm form, const float* panel, int64_t rows, const CompactValues& values, uint32_t* to);

/// Whether some hundreds of values from all over `count` have mantissas so short that bits16 may hold them all.
bool may_fit_bits16(const float* values, int64_t count);

/// Rows [begin, begin + count) of a panel of `rows` rows, of which `live` are values; begin is a multiple of kCompactRows, and whole groups
/// are written.
void decode_compact(CompactForm form, const uint32_t* panel, int64_t rows, int64_t live, int64_t begin, int64_t count, float* to);

/// Sums of the products of `a_rows` rows of A, at most kMostCompactFew.
void multiply_compact(CompactForm form, const CompactFew& few, int64_t a_rows);

/// For processors with AVX-512.
struct CompactKernels {
  void (*decode)(const uint32_t* codes, int64_t groups, float* to);
  void (*const* few)(const CompactFew&);  ///< [kMostCompactFew + 1]: by the rows of A; exceptions count as the least magnitude
};
extern const CompactKernels kAvx512Bits28, kAvx512Bits28Halves, kAvx512Bits16;  ///< halves: see CpuFeatures::half_vectors

}  // namespace rh::compute
