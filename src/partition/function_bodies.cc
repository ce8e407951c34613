#include "partition/function_bodies.h"

#include <algorithm>

#include "ops/function_body.h"

namespace rh {

FunctionBodies::FunctionBodies(Graph& graph, Assignment& assignment) : assignment_(assignment) { expand(graph); }

void FunctionBodies::expand(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    if (assignment_.of(graph, id).provider >= 0) continue;
    Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& subgraph) { expand(subgraph); });
    if (!ops::runs_as_function(graph, graph.node(id))) continue;
    Call call{&graph, graph.node(id), std::move(assignment_.of(graph, id)), ops::expand_function(graph, id), {}};
    for (NodeId inner : call.body) {
      const auto& provenance = graph.node(inner).provenance;
      if (!provenance.empty()) call.originals.push_back(provenance.back());
    }
    nodes_[&graph].insert(call.body.begin(), call.body.end());
    calls_.push_back(std::move(call));
  }
  assignment_.nodes_of(graph).resize(static_cast<size_t>(graph.node_slots()));
}

bool FunctionBodies::contains(const Graph& graph, NodeId node) const {
  const auto own = nodes_.find(&graph);
  return own != nodes_.end() && own->second.contains(node);
}

// Nodes of units are gone from the graph.
bool FunctionBodies::is_untaken(const Call& call) const {
  return std::ranges::all_of(call.body,
                             [&](NodeId id) { return call.graph->find_node(id) && assignment_.of(*call.graph, id).provider < 0; });
}

void FunctionBodies::collapse_untaken() {
  std::unordered_set<Graph*> changed;
  for (Call& call : calls_) {
    if (!is_untaken(call)) {
      assignment_.body_nodes.insert(assignment_.body_nodes.end(), call.originals.begin(), call.originals.end());
      continue;
    }
    Graph& graph = *call.graph;
    for (auto id = call.body.rbegin(); id != call.body.rend(); ++id) graph.remove_node(*id);
    const NodeId id = graph.add_node(std::move(call.node));
    assignment_.nodes_of(graph).resize(static_cast<size_t>(graph.node_slots()));
    assignment_.of(graph, id) = std::move(call.answers);
    changed.insert(&graph);
  }
  for (Graph* graph : changed) graph->drop_unused_values();
}

}  // namespace rh
