#pragma once

#include "ops/node_view.h"
#include "providers/kit/regions/refusals.h"

namespace rh::openvino {

/// Whether OpenVINO runs a node, bodies left aside: by its operator, the types of its values, and what OpenVINO is known to get wrong.
kit::Support supports_alone(const NodeView& node);

}  // namespace rh::openvino
