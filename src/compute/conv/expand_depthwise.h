#pragma once

#include <memory>

#include "compute/conv/conv.h"

namespace rh::compute {

/// A 1x1 convolution that widens and the depthwise convolution of its result, which stays near the processor: some channels at a time, a
/// few rows of which are made, side by side, before the window slides on. X [batch, in, height, width] -> Y [batch, hidden, rows, columns].
class ExpandDepthwise {
 public:
  /// Weights lie as [hidden, in] and as [hidden, kernel...]; `bias` has `hidden` values or is null. They are copied.
  struct Stage {
    const float* weights;
    const float* bias;
    Activation activation;
  };

  /// `window` is that of the depthwise stage; its input and output are not looked at. fits(window) must hold.
  ExpandDepthwise(int64_t in, int64_t hidden, const Window& window, const Stage& expand, const Stage& depthwise);
  ~ExpandDepthwise();
  ExpandDepthwise(ExpandDepthwise&&) noexcept;
  ExpandDepthwise& operator=(ExpandDepthwise&&) noexcept;

  /// Square kernels of 3, 5 or 7 over planes, stride 1 in both directions with a dilation of up to kMostDilation, or stride 2 without.
  static bool fits(const Window& window);
  static constexpr int64_t kMostDilation = 4;

  /// Padding of `window` is at least 0. The bits do not depend on the number of threads.
  void run(const Window& window, int64_t batch, const float* x, float* y, const Parallel& parallel) const;

  size_t weight_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rh::compute
