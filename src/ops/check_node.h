#pragma once

#include "ops/node_view.h"

namespace rh {

/// Holds a node of a standard operator against its schema: number of inputs and outputs, required inputs and attributes, names and kinds of
/// attributes, element types as far as they are known (attributes and types that the newest version has are allowed to older ones), and
/// inputs that must have one type. Operators without a schema pass. Throws Error{invalid_graph}, for inputs of two types Error{fail},
/// with the node, what was expected and what was found.
void check_node(const NodeView& node);

}  // namespace rh
