#pragma once

#include <vector>

#include "passes/driver/rewrite.h"

namespace rh::passes {

/// A copy of the nodes of a subgraph in the graph around it.
class BodyCopy {
 public:
  BodyCopy(Rewrite& rewrite, const Graph& body) : rewrite_(rewrite), body_(body), ids_(static_cast<size_t>(body.value_count()), kNoValue) {}

  /// What an input of the body is.
  void set_input(size_t input, ValueId value) { ids_[static_cast<size_t>(body_.inputs()[input])] = value; }
  void add_nodes();
  /// The value of the graph around the body that becomes, or is, this one of the body.
  ValueId outside(ValueId id);

 private:
  void add(const Node& inner);

  Rewrite& rewrite_;
  const Graph& body_;
  std::vector<ValueId> ids_;
};

/// `value` takes the place of the node's output, with an Identity where that is one of the graph whose name it cannot take.
void give_output(Rewrite& rewrite, const Graph& graph, const Node& node, ValueId output, ValueId value);

}  // namespace rh::passes
