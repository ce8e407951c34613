#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace rh {

/// The output types of one node, held against its schema, for these types of its inputs. Nodes with subgraphs: unknown ones.
std::vector<ValueType> infer_node(const Graph& graph, const Node& node, std::span<const ValueType> inputs);

}  // namespace rh
