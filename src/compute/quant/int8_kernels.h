#pragma once

#include "compute/quant/int8_micro.h"

namespace rh::compute {

/// The micro-kernels for the processor at hand (see cpu_features()).
const Int8Kernels& int8_kernels();
/// Faster ones, whose panels are the same but must have gone through int8_split_groups(); null: the processor has none.
const Int8Kernels* int8_split_kernels();

/// The kernels multiply unsigned by signed bytes. Bytes of the other sign are brought over by flipping their top bit, which moves values
/// and zero points by 128.
inline constexpr uint8_t kInt8Flip = 0x80;
/// What flipping adds to a value, by the sign that it has and the one that is wanted.
inline int32_t int8_shift(bool is_signed, bool wants_signed) { return is_signed == wants_signed ? 0 : wants_signed ? -128 : 128; }
inline uint8_t int8_flip(bool is_signed, bool wants_signed) { return is_signed == wants_signed ? 0 : kInt8Flip; }

inline int64_t int8_groups(int64_t k) { return (k + kInt8Group - 1) / kInt8Group; }

/// `count` columns of k rows as panels of `width` columns, a multiple of 16, that follow each other: out[k / 4, j, k % 4] = rows[k][j] ^
/// flip, 0 where there is no such column or row. Rows are `stride` bytes apart.
void int8_pack_right(const uint8_t* rows, int64_t stride, int64_t k, int64_t count, int64_t width, uint8_t flip, uint8_t* out);

/// sums[j]: of the signed bytes of column j < width of a panel of so many groups.
void int8_sum_columns(const uint8_t* panel, int64_t groups, int64_t width, int32_t* sums);

/// Halves the groups of a panel of `width` columns in which the products of two neighbours by bytes might not add up in 16 bits: at[i] is
/// the number of the i-th of them, rests[i] [width][4] what was taken out. Returns how many there are; where `at` is null nothing but the
/// panel is written.
int64_t int8_split_groups(uint8_t* panel, int64_t groups, int64_t width, int32_t* at, uint8_t* rests);

/// `count` bytes of a row, flipped, as elements of `bytes` bytes, then zeros up to `padded` elements. Returns their sum modulo 2^32;
/// `is_signed` is the sign after flipping.
int32_t int8_pack_left(const uint8_t* row, int64_t count, int64_t padded, uint8_t flip, bool is_signed, int64_t bytes, void* out);

/// `count` bytes, flipped, as elements of `bytes` bytes, unsigned.
void int8_lay_out(const uint8_t* x, int64_t count, uint8_t flip, int64_t bytes, void* out);

/// y[p, i] = the largest of rows[k][p * step + i], of signed or unsigned bytes, for each of `pixels`; `rows` is not empty.
void int8_largest(const uint8_t* const* rows, int64_t count, bool is_signed, int64_t length, int64_t pixels, int64_t step, uint8_t* y);

/// sums[i]: of the `channels` flipped bytes at x + i * pitch, as unsigned numbers.
void int8_sum_pixels(const uint8_t* x, int64_t pitch, uint8_t flip, int64_t pixels, int64_t channels, int32_t* sums);

}  // namespace rh::compute
