#pragma once

#include "ops/inference.h"

namespace rh::gpu {

/// Puts the branch that is taken in the place of each If whose condition is a constant or follows from the sizes, unrolls each Loop whose
/// trips are known, and infers the types of the graph, whose outputs may then be other values. Throws Error.
KnownContents inline_known_branches(Graph& graph);

}  // namespace rh::gpu
