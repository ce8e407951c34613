#pragma once

#include "graph/graph.h"

namespace rh {

struct CheckOptions {
  bool types = false;  ///< every output of a node has a type with an element type (types are inferred)
};

/// Throws Error{invalid_graph} naming node and value where the graph or one of its subgraphs is not sound: producers, consumers and
/// captures agree, every value that is used has exactly one source, names are unique, and there is no cycle. Linear in the size of the
/// graph.
void check(const Graph& graph, const CheckOptions& options = {});

}  // namespace rh
