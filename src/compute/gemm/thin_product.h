#pragma once

#include <cstdint>
#include <limits>

namespace rh::compute {

/// Products of at most so many values a sum.
inline constexpr int64_t kThinK = 12;
/// Rows of B are followed by what may be read, so that each has at least so many values.
inline constexpr int64_t kThinColumns = 16;

/// Rows of A of few values each, one after the other, by all of B: C = epilogue(alpha A B + beta C).
struct ThinArgs {
  int64_t rows;
  int64_t columns;
  int64_t k;  ///< 1 to kThinK
  const float* a;
  int64_t a_row;  ///< between rows of A
  int64_t a_k;    ///< between columns of A
  const float* b;
  int64_t b_row;  ///< between rows of B, at least kThinColumns
  float* c;
  int64_t c_row;
  float alpha = 1;
  float beta = 0;  ///< 0: C is not read
  const float* column_bias = nullptr;
  const float* row_bias = nullptr;
  const float* residual = nullptr;
  int64_t residual_row = 0;
  float residual_scale = 1;
  float low = -std::numeric_limits<float>::infinity();  ///< min(max(x, low), high), NaN passes
  float high = std::numeric_limits<float>::infinity();
};

void multiply_thin(const ThinArgs& args);

}  // namespace rh::compute
