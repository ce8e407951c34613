#pragma once

#include <optional>
#include <vector>

#include "ops/nn/window.h"
#include "passes/pattern/channel_affine.h"
#include "passes/pattern/linear_operator.h"

namespace rh::passes {

/// What a kernel covers along one axis, from `first` to `last`, relative to the output's position times the stride.
struct KernelAxis {
  int64_t first = 0, last = 0;
  int64_t dilation = 1;
  int64_t limit = 0;  ///< outputs lie at multiples of the stride that do not go beyond the input's last position by more than this

  int64_t size() const { return (last - first) / dilation + 1; }
  bool covers(int64_t position) const { return first <= position && position <= last && (position - first) % dilation == 0; }
};

using KernelWindow = std::vector<KernelAxis>;

/// Positions in all; those of windows far apart saturate.
int64_t kernel_size(const KernelWindow& window);
/// The least window that covers both, with the limits of `a`; nothing where their positions do not fall together.
std::optional<KernelWindow> united(const KernelWindow& a, const KernelWindow& b);

/// A convolution with constant weights whose pads are known.
struct PlacedConvolution {
  LinearOperator op;
  KernelWindow window;
  ops::Sizes strides;
};

/// Nothing where the node is none, or crops its input by negative pads.
std::optional<PlacedConvolution> placed_convolution(const Graph& graph, const Node& node);

/// A convolution, or what scales and shifts each channel of a value, times a factor.
struct KernelTerm {
  double factor = 1;
  const PlacedConvolution* conv = nullptr;
  ChannelAffine affine;  ///< where there is no convolution; as many channels come out as go in, and the window covers position 0
};

/// The sum of kernels and biases of one value, in double precision: the weights, and the bias where it is not 0. As many groups and
/// channels as `like` has; each kernel lies within the window. Nothing where a number is not finite.
std::optional<std::vector<Tensor>> summed_kernels(const PlacedConvolution& like, const KernelWindow& window,
                                                  const std::vector<KernelTerm>& terms);
/// Those of a convolution that is like another but for its window.
std::vector<Attribute> window_attributes(const PlacedConvolution& like, const KernelWindow& window);

}  // namespace rh::passes
