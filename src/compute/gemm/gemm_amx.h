#pragma once

#include <cstdint>

#include "compute/gemm/gemm_micro.h"

// Plain data alone: this header is compiled with the flags of every instruction set.
//
// Float products from bfloat16 tiles. A float is the sum of three bfloat16 parts, each what rounding left of the last, and a product of
// two floats that of the six products of parts that count: what is left out is less than 2^-24 of it; of three, which leave out 2^-15, or
// of one, 2^-7, where that is enough. 32 values of k make a step; a step of 32 rows or columns is laid out as three parts of two tiles of
// 1024 bytes.
namespace rh::compute {

inline constexpr int64_t kSplitWidth = 32;        ///< rows of A and columns of B that are worked out together
inline constexpr int64_t kSplitStep = 32;         ///< of k
inline constexpr int64_t kSplitStepBytes = 6144;  ///< of a step of either side

inline constexpr int64_t split_steps(int64_t k) { return (k + kSplitStep - 1) / kSplitStep; }

/// The bits of the least magnitude that is not 0, and of the greatest; both 0 where all are 0.
struct Magnitudes {
  uint32_t least;
  uint32_t most;
};

/// Memory that a later product will read, brought to the second-level cache while one is worked out.
struct SplitAhead {
  const char* from = nullptr;
  int64_t lines = 0;  ///< of 64 bytes, each step
};

struct AmxKernels {
  /// Sets the calling thread's tiles up for panels of `rows` rows (1 to 32); `release` gives them back.
  void (*configure)(int64_t rows);
  void (*release)();
  /// Splits rows of A, which lie along k, into steps; what is beyond k counts as 0.
  Magnitudes (*split_left)(const float* a, int64_t a_row, int64_t rows, int64_t k, void* steps);
  /// The same of 32 columns of B, whose rows lie b_k apart.
  Magnitudes (*split_right)(const float* b, int64_t b_k, int64_t k, void* steps);
  /// Back to floats, exact where every part is a normal number: rows of k of A, or rows of 32 of B, one after the other.
  void (*join_left)(const void* steps, int64_t rows, int64_t k, float* a);
  void (*join_right)(const void* steps, int64_t k, float* b);
  /// sums[32][32] = A B of `steps` steps, with tiles that are configured for `rows`.
  using Multiply = void (*)(int64_t steps, const void* a, const void* b, int64_t rows, float* sums, SplitAhead ahead);
  Multiply multiply_six, multiply_three, multiply_one;  ///< products of parts
  /// What comes after the sums, as MicroArgs says; its a, b and k are not looked at.
  void (*finish)(const MicroArgs<float>& args, int64_t rows, const float* sums);
};

extern const AmxKernels kAmxKernels;

}  // namespace rh::compute
