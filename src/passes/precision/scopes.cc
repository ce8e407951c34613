#include "passes/precision/scopes.h"

namespace rh::precision {

void Scopes::add_bodies(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& body) {
      parents_.emplace(&body, &graph);
      add_bodies(body);
    });
  }
}

Graph* Scopes::parent(const Graph& body) const {
  const auto at = parents_.find(&body);
  return at == parents_.end() ? nullptr : at->second;
}

Origin Scopes::origin(Graph& graph, ValueId id) const {
  Origin at{&graph, id};
  while (at.value().outer != kNoValue) at = {parent(*at.graph), at.value().outer};
  return at;
}

const Tensor* Scopes::constant(Graph& graph, ValueId id) const {
  if (id == kNoValue) return nullptr;
  const Origin at = origin(graph, id);
  if (const Tensor* tensor = at.value().constant_tensor()) return tensor;
  return at.producer() ? constant_of(*at.producer()) : nullptr;
}

const Tensor* constant_of(const Node& node) {
  if (!node.domain.empty() || node.op_type != "Constant") return nullptr;
  const Attribute* value = node.attribute("value");
  return value ? value->get<Tensor>() : nullptr;
}

}  // namespace rh::precision
