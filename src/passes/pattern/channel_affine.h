#pragma once

#include <optional>
#include <vector>

#include "ops/node_view.h"

namespace rh::passes {

/// y = scale x + shift, a pair for each channel.
struct ChannelAffine {
  std::vector<double> scale, shift;
};

/// A value whose `axis` has the channels.
struct ChannelValue {
  DType dtype = DType::undefined;
  int rank = 0;
  int64_t channels = 0;
  int axis = 1;

  friend bool operator==(const ChannelValue&, const ChannelValue&) = default;
};

/// Does `next` after `affine`.
void append(ChannelAffine& affine, const ChannelAffine& next);

/// Whether the operator is one that channel_affine() may read.
bool is_channel_affine(const Node& node);
/// What BatchNormalization, or Mul, Add, Sub, Div by one constant a channel, does to its input `position`, which is `x`, in double
/// precision. Nothing where it does something else, or would widen x.
std::optional<ChannelAffine> channel_affine(const NodeView& node, int position, const ChannelValue& x);

/// Operators that channel_affine() reads, each the only user of the one before, as one.
struct ChannelAffineChain {
  ChannelAffine affine;
  std::vector<NodeId> nodes;
  const Node* last = nullptr;  ///< the node given where there are no others
};

/// Those that follow `first`, which gives `x`: as many as there are.
ChannelAffineChain channel_affines_after(const Graph& graph, const Node& first, const ChannelValue& x);

/// The operator that makes a value of another one with the same channels.
struct ChannelAffineStep {
  const Node* node = nullptr;
  ValueId from = kNoValue;
  ChannelAffine affine;
};

/// What channel_affine() reads of the node that gives `value`, whose type is that of `x`. Nothing where the node gives more than that.
std::optional<ChannelAffineStep> channel_affine_before(const Graph& graph, ValueId value, const ChannelValue& x);
/// A vector of this type; nothing where a number of it is not finite.
std::optional<Tensor> channel_parameters(DType dtype, const std::vector<double>& values);

}  // namespace rh::passes
