#pragma once

#include "graph/graph.h"
#include "session/options.h"

namespace rh {

/// "session.gqa_value_layout" BNHS: the model takes and gives the values that GroupQueryAttention keeps with its last two axes exchanged,
/// where they are inputs and outputs of the model.
void apply_value_layout(Graph& graph, const SessionOptions& options);

}  // namespace rh
