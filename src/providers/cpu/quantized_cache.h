#pragma once

#include "providers/cpu/attention_parts.h"

namespace rh::cpu {

/// How a cache of keys or values [batch, heads, capacity, depth] is held: int8, or 4 bits of which a byte holds two, the first one low
/// (uint8, 8 above the number). Numbers are elements times the scale, one for all or one for each of heads depth.
struct CacheFormat {
  int64_t bits = 8;
  const float* scales = nullptr;
  int64_t scale_count = 1;  ///< 1 or heads depth

  DType dtype() const { return bits == 4 ? DType::uint8 : DType::int8; }
  int64_t bytes_of_row(int64_t depth) const { return bits == 4 ? (depth + 1) / 2 : depth; }
};

/// New rows of float heads as they stand in the cache, contiguous [batch, length, heads, bytes of a row].
NewRows quantized_rows(RunContext& context, const CacheFormat& format, int64_t batch, int64_t heads, int64_t depth, const NewRows& rows);

/// The numbers that a cache [batch, heads, capacity, bytes of a row] stands for, in scratch memory; only the first `filled` rows.
const float* dequantized_cache(RunContext& context, const CacheFormat& format, const TensorView& cache, int64_t depth, int64_t filled);

}  // namespace rh::cpu
