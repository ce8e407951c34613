#pragma once

#include <optional>
#include <vector>

#include "ops/node_view.h"

namespace rh::passes {

/// y = scale x + shift, a pair for each channel.
struct ChannelAffine {
  std::vector<double> scale, shift;
};

/// A value [N, channels, ...].
struct ChannelValue {
  DType dtype = DType::undefined;
  int rank = 0;
  int64_t channels = 0;
};

/// Whether the operator is one that channel_affine() may read.
bool is_channel_affine(const Node& node);
/// What BatchNormalization, or Mul, Add, Sub, Div by one constant a channel, does to its input `position`, which is `x`, in double
/// precision. Nothing where it does something else, or would widen x.
std::optional<ChannelAffine> channel_affine(const NodeView& node, int position, const ChannelValue& x);

}  // namespace rh::passes
