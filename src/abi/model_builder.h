#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/graph_view.h"

/// A model that a caller builds, or what one adds to another model.
struct OrtModel {
  std::vector<std::pair<std::string, int>> opsets;
  std::unique_ptr<OrtGraph> graph;
};

namespace rh::abi {

/// The model as a caller built it; tensors share their memory. Throws Error{invalid_argument} where the operator set of ONNX is not given,
/// Error{invalid_graph} where the parts do not fit.
Model build_model(const OrtModel& built);

/// Adds operator sets, initializers and nodes to `graph`; where the addition names inputs or outputs, they take the place of the graph's.
/// Throws as build_model does, and Error{invalid_argument} for another version of an operator set that the graph has.
void add_to_graph(Graph& graph, const OrtModel& addition);

}  // namespace rh::abi
