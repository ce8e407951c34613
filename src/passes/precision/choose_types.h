#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/precision/convert_floats.h"
#include "passes/precision/scopes.h"

namespace rh::precision {

/// What becomes of a node that touches float32.
struct NodeChoice {
  std::string reason;  ///< why the node stays; empty where it converts
  std::vector<bool> half_inputs, half_outputs;

  bool converts() const { return reason.empty(); }
};

/// Which nodes convert, and which values are then given in the half type.
struct TypeChoice {
  std::unordered_map<const Node*, NodeChoice> nodes;  ///< those that touch float32 and have a choice
  std::unordered_set<const GraphValue*> half_values;  ///< in the graphs that give them
};

TypeChoice choose_types(Graph& graph, const Scopes& scopes, const FloatConversion& options);

/// Whether the value is a float32 tensor.
bool is_float(const Graph& graph, ValueId id);
/// Whether the node is one of those that take and give whatever type their neighbours want: Cast, Constant, ConstantOfShape, Shape, Size.
bool is_adaptable(const Node& node);

}  // namespace rh::precision
