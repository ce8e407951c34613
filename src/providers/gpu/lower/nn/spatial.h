#pragma once

#include "ops/nn/window.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

inline constexpr int kMostSpatial = 3;

/// Whether input 0 has as many spatial dimensions as kernels of windows take.
kit::Support require_spatial(const NodeView& node);

/// The sizes of depth, height and width that kernels of windows take: those that an operator lacks come first and are 1.
template <typename Arguments>
void fill_window(Arguments& arguments, const ops::Window& window, const Shape& in, const Shape& out) {
  const int spatial = in.rank() - 2, first = kMostSpatial - spatial;
  const ops::Sizes pads = window.pads_for(std::span<const int64_t>(in.begin() + 2, in.end()));
  for (int d = 0; d < kMostSpatial; ++d) {
    const auto at = static_cast<size_t>(d - first);
    const bool is_own = d >= first;
    arguments.in[d] = is_own ? static_cast<int>(in[d - first + 2]) : 1;
    arguments.out[d] = is_own ? static_cast<int>(out[d - first + 2]) : 1;
    arguments.kernel[d] = is_own ? static_cast<int>(window.kernel[at]) : 1;
    arguments.strides[d] = is_own ? static_cast<int>(window.strides[at]) : 1;
    arguments.dilations[d] = is_own ? static_cast<int>(window.dilations[at]) : 1;
    arguments.pads[d] = is_own ? static_cast<int>(pads[at]) : 0;
    if constexpr (requires { arguments.end_pads; }) {
      arguments.end_pads[d] = is_own ? static_cast<int>(pads[at + static_cast<size_t>(spatial)]) : 0;
    }
  }
}

/// Of convolutions of inputs 0 by 1; the window becomes complete.
ConvArguments conv_arguments(const NodeView& node, const Lowering& lowering, ops::Window& window, int64_t groups);
/// Adds the launch of a convolution, with a bias in input 2 where there is one. The kernel's call ends in kPlainEpilogue.
void launch_conv(const NodeView& node, Lowering& lowering, Kernel kernel, const LaunchSize& size, const ConvArguments& arguments);

}  // namespace rh::gpu
