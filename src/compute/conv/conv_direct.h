#pragma once

#include "compute/conv/conv_impl.h"

namespace rh::compute {

/// What such a convolution does, by the outputs of a channel: sums, with those between rows, and elements of a channel that are staged,
/// both in whole vectors.
struct ConvDirectWork {
  double outputs;
  double inputs;
};
ConvDirectWork conv_direct_work(const ConvChannels& channels, const Window& window);
bool conv_fits_direct(const ConvChannels& channels, const Window& window);

/// Kernels of few channels a group: planes are copied with their padding, taken apart by the stride, and read where they lie, so that
/// nothing is gathered. Rows of outputs follow each other with what their padding would be between.
std::unique_ptr<Convolution<float>::Impl> make_conv_direct(const ConvChannels& channels, const Window& window, const float* weights,
                                                           const float* bias, const Activation& activation);

}  // namespace rh::compute
