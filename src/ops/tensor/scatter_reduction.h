#pragma once

#include <cstdint>

#include "ops/node_view.h"

namespace rh::ops {

/// What a scatter does with the element that stands.
enum class ScatterReduction : uint8_t { none, add, mul, min, max };

/// The attribute "reduction", of ScatterND and ScatterElements from opset 16 (min and max from 18) on.
ScatterReduction read_scatter_reduction(const NodeView& node);

}  // namespace rh::ops
