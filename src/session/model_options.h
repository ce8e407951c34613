#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "session/options.h"
#include "session/session.h"

namespace rh {

/// Gives the free dimensions that the options name their values, in the graph and its subgraphs, and replaces initializers. Throws
/// Error{invalid_argument} where the model has no such initializer or one of another type.
void apply_model_options(Graph& graph, const SessionOptions& options);

/// Gives dimensions of inputs the values that the options have for their denotations; a named one gets it everywhere. `denotations`: by
/// input, one a dimension.
void apply_dim_denotations(Graph& graph, const std::map<std::string, std::vector<std::string>>& denotations, const SessionOptions& options);

/// What the file says of the shapes of values that nodes give may be wrong, where only the batch of its inputs was changed for example: it
/// becomes hints, and inference from inputs, constants and operators tells shapes. In subgraphs too.
void turn_shapes_into_hints(Graph& graph);

/// Gives dimensions of inputs that have no name symbols of their own, so that sizes can be told from them.
void name_unknown_dims(Graph& graph);

struct Signature {
  std::vector<ValueInfo> inputs, outputs, overridable_initializers;
};
/// Types as the model declares them.
Signature declared_signature(const Graph& graph);
/// The same after inference: what was not declared is filled in where it is a number or a symbol of the model.
void complete_signature(Signature& signature, const Graph& graph);

}  // namespace rh
