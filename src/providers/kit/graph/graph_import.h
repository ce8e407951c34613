#pragma once

#include <memory>
#include <vector>

#include "graph/graph.h"
#include "providers/kit/host/host.h"

namespace rh::kit {

/// A host's graph as ours, and whose nodes its nodes are.
struct ImportedGraph {
  std::shared_ptr<Graph> graph;
  std::vector<const OrtNode*> nodes;  ///< by node id; of the main graph
};

/// The graph that a host shows, bodies included, with types inferred as we infer them. What it takes from graphs around it becomes inputs,
/// or initializers where it is constant. Initializers look into the host's memory. Attributes have the standard's defaults where the host
/// gives those. Throws Error.
ImportedGraph import_graph(const Host& host, const OrtGraph& graph);

/// A graph of one node, whose inputs and outputs are the graph's.
ImportedGraph import_node(const Host& host, const OrtNode& node);

/// Copies the initializers of bodies, which no host gives a unit as inputs, so that they outlive the host's graph.
void own_constants_of_bodies(Graph& graph);

}  // namespace rh::kit
