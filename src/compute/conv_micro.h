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

/// One output row of a depthwise convolution over a padded plane: y[i] = clamp(bias + residual[i] + sum over taps of w[t] x[offset[t] +
/// i]).
struct DepthwiseArgs {
  const float* x;
  const int64_t* offsets;
  const float* weights;
  int64_t taps;
  float bias;
  const float* residual;  ///< or null
  float low;
  float high;
  float* y;
  int64_t width;
};

struct ConvKernels {
  int64_t lanes;
  /// `rows` rows of one full panel, `ldx` apart in x.
  void (*copy_panel)(const float* x, int64_t ldx, int64_t rows, float* panel);
  /// For each of `channels` channels, `channel_stride` apart, one panel row.
  void (*gather_panel)(const float* x, int64_t channel_stride, int64_t channels, int64_t stride, const Segment* segments, int64_t count,
                       float* panel);
  /// The row must be readable up to a vector beyond `width` at each offset.
  void (*depthwise_row)(const DepthwiseArgs& args);
  /// even[i] = x[2 i], odd[i] = x[2 i + 1] for `pairs` pairs.
  void (*split_pairs)(const float* x, int64_t pairs, float* even, float* odd);
};

extern const ConvKernels kGenericConv, kAvx2Conv, kAvx512Conv;

}  // namespace rh::compute
