#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"

namespace rh::precision {

/// "Conv", "com.microsoft::Gelu".
std::string operator_name(const Node& node);

/// What a graph and its bodies have of names, to hold options against. Checks throw Error{invalid_argument} with the nearest name.
class KnownNames {
 public:
  explicit KnownNames(const Graph& graph);

  void check_nodes(const std::vector<std::string>& names) const;
  void check_operators(const std::vector<std::string>& names) const;
  void check_ends(const std::vector<std::string>& names) const;  ///< inputs and outputs
  bool has_value(const std::string& name) const { return values_.contains(name); }

 private:
  void add(const Graph& graph);

  std::vector<std::string> nodes_, operators_, ends_;
  std::unordered_set<std::string> values_;
};

}  // namespace rh::precision
