#pragma once

#include <unordered_map>

#include "graph/graph.h"

namespace rh::precision {

/// A value in the graph that gives it.
struct Origin {
  Graph* graph;
  ValueId id;

  const GraphValue& value() const { return graph->value(id); }
  const Node* producer() const { return graph->producer(id); }
};

/// A graph and the bodies of its nodes, at any depth: where captured values come from.
class Scopes {
 public:
  explicit Scopes(Graph& main) { add_bodies(main); }

  /// Null for the main graph.
  Graph* parent(const Graph& body) const;
  Origin origin(Graph& graph, ValueId id) const;
  /// The tensor of an initializer or of a Constant node, through captures; null where there is none.
  const Tensor* constant(Graph& graph, ValueId id) const;

 private:
  void add_bodies(Graph& graph);

  std::unordered_map<const Graph*, Graph*> parents_;
};

/// The tensor that a Constant node gives by its attribute `value`; null for other nodes.
const Tensor* constant_of(const Node& node);

}  // namespace rh::precision
