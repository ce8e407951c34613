#pragma once

#include "providers/coreml/lowering.h"
#include "providers/kit/regions/refusals.h"

namespace rh::coreml {

/// Whether Core ML's programs have the node, bodies left aside; the refusal says why not.
kit::Support supports_alone(const NodeView& node);

/// Adds what the node computes to the program. Throws Error.
void lower_node(Lowering& to, const NodeView& node);

}  // namespace rh::coreml
