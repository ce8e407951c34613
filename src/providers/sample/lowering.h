#pragma once

#include <vector>

#include "graph/graph.h"
#include "providers/sample/vendor.h"

namespace rh::sample {

/// The vendor's name for an operator; null where it has none.
const char* step_of(std::string_view op);

/// A graph as the vendor's program. Throws Error.
OwnedProgram lower(const Vendor& vendor, const Graph& graph, const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs);

}  // namespace rh::sample
