#pragma once

#include "base/error.h"
#include "compute/conv.h"
#include "ops/nn/window.h"
#include "tensor/shape.h"

namespace rh::cpu {

/// An operator's window with lists for `spatial` axes where the model left them out; the kernel's sizes are those of the weights.
ops::Window with_kernel(const ops::Window& window, std::span<const int64_t> kernel);

/// Geometry for compute: up to three spatial axes, the last ones of `input` ([N, C, spatial...]) and `output_spatial`. Pads are those at
/// the beginning.
Status conv_window(const ops::Window& window, std::span<const int64_t> input_spatial, std::span<const int64_t> output_spatial,
                   std::span<const int64_t> pads, compute::Window& result);

}  // namespace rh::cpu
