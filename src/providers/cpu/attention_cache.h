#pragma once

#include <span>

#include "providers/cpu/attention_parts.h"

namespace rh::cpu {

/// The angles by which the heads of tokens turn: rows of two caches [positions, half].
struct RotaryAngles {
  const float *cosines = nullptr, *sines = nullptr;
  int64_t half = 0;
  std::span<const int64_t> positions;  ///< of each token
  bool interleaved = false;
};

/// Of [batch, length] tokens with the caches in inputs `cosines` and `cosines` + 1. Positions are those of an input [batch, length] (-1:
/// none), or go on from `past`; tokens beyond the first `counted` of a batch (empty: all count) have position 0. Throws
/// Error{invalid_argument} where the caches do not fit heads of `depth` or have no such position.
RotaryAngles rotary_angles(RunContext& context, const char* op_type, int cosines, int64_t depth, int64_t length,
                           std::span<const int64_t> past, int positions = -1, std::span<const int64_t> counted = {});

/// Makes float rows [batch, length] of heads turned copies of themselves.
void rotate_rows(RunContext& context, const RotaryAngles& angles, int64_t heads, int64_t depth, NewRows& rows);

/// The rows that are to follow those of `past` in a cache `shape` [batch, heads, capacity, depth] of `dtype`: in the output if it is wanted
/// (-1: it is not), else in scratch memory. `rows` are floats, or of a type that is no float. The cache is not filled yet.
AppendedRows present_cache(RunContext& context, int past, int output, DType dtype, const Shape& shape,
                           std::span<const int64_t> past_lengths, const NewRows& rows);

}  // namespace rh::cpu
