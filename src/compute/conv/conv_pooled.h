#pragma once

#include "compute/conv/conv.h"

namespace rh::compute {

/// y [batch, channels.out, pool.output] = the maxima, over the windows of `pool`, of what the convolution gives, [batch, channels.out,
/// window.output], of which only a band of rows is there at a time. For planes; `pool` without dilation. The convolution is one that
/// pools_in_bands().
void convolve_and_pool(const Convolution<float>& convolution, const Window& window, const ConvChannels& channels, const Window& pool,
                       int64_t batch, const float* x, float* y, const Parallel& parallel);

/// Whether a convolution works out some rows alone at no greater cost than its share of the whole.
bool pools_in_bands(const Convolution<float>& convolution);

}  // namespace rh::compute
