#pragma once

#include <optional>

#include "graph/graph.h"
#include "ops/schema.h"

namespace rh::ops {

/// The attribute with the standard's default; nothing where the standard gives none.
std::optional<Attribute> default_attribute(const SchemaAttribute& attribute);
/// As a node reads it that leaves it out. Nodes with channels last have the defaults of those that they were made from.
std::optional<Attribute> default_attribute(const Node& node, std::string_view name);

}  // namespace rh::ops
