#pragma once

#include "base/function_ref.h"
#include "graph/graph.h"

namespace rh {

/// Whether a constant is a table of rows that nodes only copy out of: all that take it are Gather along its first axis. Such a table may
/// lie at any address.
bool is_row_table(const Graph& graph, ValueId id);

/// Gives initializers of the graph and its subgraphs that lie at an address their element type does not allow the memory that `copy` makes,
/// but for tables of rows.
void align_constants(Graph& graph, FunctionRef<Tensor(const Tensor&)> copy);

}  // namespace rh
