#pragma once

#include "ops/node_view.h"
#include "providers/gpu/lower/elementwise/chain.h"

namespace rh::gpu {

/// What a node of an operator without a text of its own computes; `text` is its row's.
Expression expression_of(const NodeView& node, std::string_view text);

}  // namespace rh::gpu
