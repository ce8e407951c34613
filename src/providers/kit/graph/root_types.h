#pragma once

#include <map>
#include <span>
#include <string>

#include "graph/graph.h"

namespace rh::kit {

/// Types of values as the graph around a region has them, by name: a unit's own graph has lost the relations between sizes (past + 1).
class RootTypes {
 public:
  void remember(const Graph& graph, std::span<const NodeId> region);
  /// Gives values of a unit's graph the sizes that were remembered under their names.
  void restore(Graph& unit) const;

 private:
  std::map<std::string, ValueType, std::less<>> types_;  ///< unknown where two graphs have the name for different types
};

}  // namespace rh::kit
