#pragma once

#include "ops/node_view.h"
#include "providers/kit/regions/refusals.h"

namespace rh::migraphx {

/// Whether MIGraphX runs a node, bodies left aside: by its operator, the types of its values, and what MIGraphX is known to get wrong.
kit::Support supports_alone(const NodeView& node);

}  // namespace rh::migraphx
