#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "compute/conv/conv.h"

namespace rh::cpu {

/// y[i] += a x[i] of words; nothing overlaps.
void add_scaled(int16_t a, const int16_t* x, int64_t count, int32_t* y);

/// A convolution of bytes whose sums have a few terms, as in groups of few channels: each term is added a line of the result at a time,
/// and neither image nor weights are put into another order.
class FewTermConvolution {
 public:
  /// `weights` as [out, in / groups, kernel...], less their zero points.
  FewTermConvolution(const compute::ConvChannels& channels, std::vector<int16_t> weights)
      : channels_(channels), weights_(std::move(weights)) {}

  size_t weight_bytes() const { return weights_.size() * sizeof(int16_t); }
  /// `x`: [batch, in, spatial...], less its zero point; y: [batch, out, spatial...].
  void run(const compute::Window& window, int64_t batch, const int16_t* x, int32_t* y, const Parallel& parallel) const;

 private:
  compute::ConvChannels channels_;
  std::vector<int16_t> weights_;
};

}  // namespace rh::cpu
