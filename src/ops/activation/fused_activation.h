#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/node_view.h"

namespace rh::ops {

/// What a fused operator (FusedConv, FusedGemm) applies to its result before it stores it: attribute `activation`, by the names of the
/// standard's operators, and its numbers.
struct FusedActivation {
  enum class Function : uint8_t {
    none,
    relu,
    clip,
    leaky_relu,
    hard_sigmoid,
    hard_swish,
    hard_swish_affine,  ///< alpha HardSwish(x) + beta
    sigmoid,
    tanh,
    elu,
    softplus,
    softsign,
    thresholded_relu,
    swish,  ///< x sigmoid(alpha x)
    gelu,
    gelu_tanh,
    mish,
    prelu,  ///< of convolutions alone
  };
  Function function = Function::none;
  float alpha = 0, beta = 0;  ///< clip: the bounds
  std::vector<float> slopes;  ///< prelu: one for each output channel

  /// Of a fused node: numbers stand in `activation_params`, or in `activation_alpha` and `activation_beta`.
  /// An operator of several names the attribute; the others begin with its name.
  static FusedActivation read(const NodeView& node, std::string_view attribute = "activation");
  /// Of a convolution, which may have "PRelu" too, with a slope for each output channel in `activation_params`.
  static FusedActivation read_of_channels(const NodeView& node, std::string_view attribute = "activation");
  /// The activation that the node by itself computes of its input 0; nothing where it is none, or where its numbers are not constant.
  static std::optional<FusedActivation> of(const NodeView& node);
  /// The same, or a PRelu with constant slopes of `channels` values along dimension 1 of its input, which has rank `rank`.
  static std::optional<FusedActivation> of_channels(const NodeView& node, int64_t channels, int rank);

  /// The attributes from which `read` makes the same, numbers in `activation_params`; none where there is no function.
  std::vector<Attribute> attributes(std::string_view attribute = "activation") const;
  /// The same with numbers in attributes of their own, as FusedGemm has them.
  std::vector<Attribute> separate_attributes() const;
};

}  // namespace rh::ops
