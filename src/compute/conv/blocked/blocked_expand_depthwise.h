#pragma once

#include <vector>

#include "base/shared_bytes.h"
#include "compute/conv/blocked/conv_blocked.h"
#include "compute/conv/expand_depthwise.h"

namespace rh::compute {

/// ExpandDepthwise between values in blocks of channels: see to_blocked.
class BlockedExpandDepthwise {
 public:
  /// Whether run() can compute this: 3x3, 5x5 or 7x7 taps that lie together.
  static bool fits(const Window& window);

  /// Arguments as those of ExpandDepthwise; where fits().
  BlockedExpandDepthwise(int64_t in, int64_t hidden, const Window& window, const ExpandDepthwise::Stage& expand,
                         const ExpandDepthwise::Stage& depthwise);

  /// `means`, where not null, get those of the planes of y: [batch, channels of its blocks]. `ahead` is brought into the caches on the way,
  /// where fetches_ahead().
  void run(const Window& window, int64_t batch, const float* x, float* y, float* means, const Parallel& parallel,
           FetchList ahead = {}) const;

  bool fetches_ahead() const { return kernels_.fetches; }
  size_t weight_bytes() const { return (weights_.size() + taps_.size() + bias_.size() + taps_bias_.size()) * sizeof(float); }

 private:
  struct Unit;
  void run_unit(const Unit& unit) const;

  const int64_t in_, hidden_;
  const Window window_;
  const Activation activation_, taps_activation_;
  const BlockedKernels& kernels_;
  SharedArray<float> weights_;  ///< [group of blocks][input channel][channels of the group]
  std::vector<float> taps_;     ///< [block][tap][kChannelBlock]
  std::vector<float> bias_, taps_bias_;
};

}  // namespace rh::compute
