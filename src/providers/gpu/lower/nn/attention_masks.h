#pragma once

#include "ops/node_view.h"
#include "providers/gpu/lower/nn/attention.h"

namespace rh::gpu {

/// The masks of the attention operators of com.microsoft, by inputs (-1: none): int32 ends, ends and starts, or 0 where a key is hidden;
/// and numbers [batch or 1, heads or 1, queries, keys] that are added.
struct ContribMasks {
  int mask = -1, bias = -1;
  float hidden = -10000;  ///< what is added to scores of hidden keys
};

/// Sets those of a call whose heads stand. Throws Error naming the node where a shape does not fit.
void set_masks(const NodeView& node, const Lowering& lowering, const ContribMasks& masks, AttentionCall& call);

}  // namespace rh::gpu
