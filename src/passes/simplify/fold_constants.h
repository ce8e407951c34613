#pragma once

#include "graph/edit.h"
#include "passes/driver/pass.h"

namespace rh::passes {

/// The nodes that `may_fold` lets through and whose inputs are all constant are replaced by their results, as far as the context's limits
/// allow.
Edit folded(const Graph& graph, PassContext& context, bool (*may_fold)(const Node&));

}  // namespace rh::passes
