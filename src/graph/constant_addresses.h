#pragma once

#include "base/function_ref.h"
#include "graph/graph.h"

namespace rh {

/// Whether a constant is a table of rows that nodes only copy out of: all that take it are Gather along its first axis. Such a table may
/// lie at any address.
bool is_row_table(const Graph& graph, ValueId id);

/// Whether a constant is the weights of products and convolutions alone: floats of two dimensions or more, the second input of all that
/// take it. The standard passes read such at any address; kernels and the passes of providers do not.
bool is_weights(const Graph& graph, ValueId id);

/// Gives initializers of the graph and its subgraphs that lie at an address their element type does not allow the memory that `copy` makes,
/// but for those that `stays` names, and those that nothing takes.
void align_constants(Graph& graph, FunctionRef<Tensor(const Tensor&)> copy, FunctionRef<bool(const Graph&, ValueId)> stays);

}  // namespace rh
