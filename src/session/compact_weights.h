#pragma once

#include "graph/graph.h"
#include "session/options.h"

namespace rh {

/// Whether weights of products are kept in fewer bytes, where that loses nothing: as `roundhouse.weights` says (`plain`, `compact`), else
/// (`auto`), on processors without AMX, where memory is to be lean, and, where additions have units of their own, in models that generate a
/// token at a time with weights that do not fit in the caches. Such products wait for memory; those of many rows would take some percent
/// longer.
bool wants_compact_weights(const Graph& graph, const SessionOptions& options);

}  // namespace rh
