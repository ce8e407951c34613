#pragma once

#include "passes/driver/pass.h"
#include "passes/layout/reordered_node.h"

namespace rh::passes {

/// Puts Transposes where they move the fewest elements: through what works in either order of dimensions, and out where they cancel.
Edit plan_orders(const Graph& graph, PassContext& context, Conversions conversions);

}  // namespace rh::passes
