#pragma once

#include <vector>

#include "base/shared_bytes.h"
#include "compute/conv/conv.h"

namespace rh::compute {

struct NhwcDepthwiseKernels;

/// A convolution of each channel by itself between values with channels last, x [batch, height, width, channels] and y alike, in up to two
/// dimensions: y = activation(conv(x) + bias + residual) + addend.
class NhwcDepthwise {
 public:
  /// Whether run() can compute this: groups = in = out, planes, not volumes.
  static bool fits(const ConvChannels& channels, const Window& window);

  /// Arguments as those of Convolution; where fits().
  NhwcDepthwise(int64_t channels, const Window& window, const float* weights, const float* bias, const Activation& activation);

  /// `residual` and `addend` lie as y or are null; they are not y itself.
  void run(const Window& window, int64_t batch, const float* x, const float* residual, float* y, const Parallel& parallel,
           const float* addend = nullptr) const;

  size_t weight_bytes() const { return (weights_.size() + bias_.size()) * sizeof(float); }

 private:
  const int64_t channels_;
  const Window window_;
  const Activation activation_;
  const NhwcDepthwiseKernels& kernels_;
  SharedArray<float> weights_;  // [taps, channels]
  std::vector<float> bias_;
};

}  // namespace rh::compute
