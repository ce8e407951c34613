#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
namespace rh::compute {

/// One vector of a panel row: lanes [first, last) come from x[offset + lane * stride], the others are zero. Vectors are stored in the
/// order of the list, whole: a later one overwrites what an earlier one wrote too much.
struct Segment {
  int64_t offset;
  int32_t column;
  int16_t first;
  int16_t last;
};

/// A plane of a depthwise convolution over a padded plane: y[r][i] = clamp(bias + residual[r][i] + sum over taps of
/// w[t] x[r x_row + offset[t] + i]).
struct DepthwiseArgs {
  const float* x;
  int64_t x_row;
  const int64_t* offsets;
  const float* weights;
  int64_t taps;
  float bias;
  const float* residual;  ///< or null; rows as those of y
  float low;
  float high;
  float* y;
  int64_t rows;
  int64_t width;  ///< of a row; rows of y follow each other
};

struct ConvKernels {
  int64_t lanes;
  /// `rows` rows of one full panel, `ldx` apart in x.
  void (*copy_panel)(const float* x, int64_t ldx, int64_t rows, float* panel);
  /// For each of `channels` channels, `channel_stride` apart, one panel row.
  void (*gather_panel)(const float* x, int64_t channel_stride, int64_t channels, int64_t stride, const Segment* segments, int64_t count,
                       float* panel);
  /// Each row must be readable up to four vectors beyond `width` at each offset.
  void (*depthwise)(const DepthwiseArgs& args);
  /// Copies rows; up to a vector of zeros may be written after each, before the next is.
  void (*copy_rows)(const float* x, int64_t rows, int64_t width, float* y, int64_t y_row);
  /// even[i] = x[2 i], odd[i] = x[2 i + 1] for `pairs` pairs.
  void (*split_pairs)(const float* x, int64_t pairs, float* even, float* odd);
};

extern const ConvKernels kGenericConv, kAvx2Conv, kAvx512Conv;

}  // namespace rh::compute
