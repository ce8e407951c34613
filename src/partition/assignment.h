#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "partition/placement.h"
#include "providers/provider.h"

namespace rh {

/// Who runs a node of the final graph, and who does not.
struct NodeAssignment {
  int provider = -1;  ///< position in the list of providers; -1: none takes it
  std::string kernel;
  std::vector<Refusal> refusals;
};

/// The assignment of all nodes of a graph and of its subgraphs.
class Assignment {
 public:
  const NodeAssignment& of(const Graph& graph, NodeId node) const { return nodes_.at(&graph)[static_cast<size_t>(node)]; }

 private:
  friend Assignment assign(const Graph& graph, std::span<const std::shared_ptr<Provider>> providers);
  void assign_graph(const Graph& graph, std::span<const std::shared_ptr<Provider>> providers);

  std::unordered_map<const Graph*, std::vector<NodeAssignment>> nodes_;
};

/// Asks the providers in order, each for the nodes that none before took, and keeps every answer.
Assignment assign(const Graph& graph, std::span<const std::shared_ptr<Provider>> providers);

/// Throws Error{not_implemented} that names the nodes which no provider takes, with the reasons.
void check_all_assigned(const Graph& graph, const Assignment& assignment);

/// The nodes of a model as it was read, to be asked about later; nodes without provenance get themselves.
using OriginalNodes = std::vector<std::shared_ptr<const OriginalNode>>;
OriginalNodes collect_originals(Graph& graph);

/// Why original nodes are gone from the final graph.
using EliminationReasons = std::unordered_map<const OriginalNode*, std::string>;

/// One entry for each original node, in their order.
std::vector<NodePlacement> report_placement(const OriginalNodes& originals, const Graph& graph, const Assignment& assignment,
                                            std::span<const std::shared_ptr<Provider>> providers, const EliminationReasons& reasons = {});

}  // namespace rh
