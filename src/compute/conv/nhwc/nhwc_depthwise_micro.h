#pragma once

#include <cstdint>

// Plain data alone: this header is compiled with the flags of every instruction set.
namespace rh::compute {

/// An image of a depthwise convolution with channels last: y[row][column][channel] = clamp(bias + residual + sum over taps of weights x).
/// There are at least as many channels as a vector has.
struct NhwcPlane {
  const float* x;  ///< [height, width, channels]
  int64_t height;
  int64_t width;
  int64_t channels;
  int64_t pad_top;
  int64_t pad_left;
  const float* weights;  ///< [taps_down, taps_across, channels]
  int64_t taps_down;
  int64_t taps_across;
  int64_t stride_down;
  int64_t stride_across;
  int64_t dilation_down;
  int64_t dilation_across;
  const float* bias;      ///< [channels]
  const float* residual;  ///< or null; as y
  float low;
  float high;
  float* y;         ///< [rows, columns, channels]
  int64_t columns;  ///< of y
};

/// Outputs of `plane`, whole rows.
using NhwcRows = void (*)(const NhwcPlane& plane, int64_t first_row, int64_t last_row);

struct NhwcDepthwiseKernels {
  int64_t lanes;
  NhwcRows any;           ///< every kernel
  NhwcRows square[3][2];  ///< of 3, 5 and 7 taps either way, of stride 1 or 2, without dilation; null where there is none
};

extern const NhwcDepthwiseKernels kGenericNhwcDepthwise, kAvx2NhwcDepthwise, kAvx512NhwcDepthwise;

}  // namespace rh::compute
