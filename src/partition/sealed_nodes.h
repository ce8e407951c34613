#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "ops/inference.h"
#include "partition/assignment.h"

namespace rh {

/// Nodes that providers have taken, while passes rewrite those that nobody has. A sealed node is of an operator that no pass knows, and the
/// values of nodes that it takes and gives are kept as outputs of a graph are: their names and types stay.
class SealedNodes {
 public:
  static constexpr int kNobody = -1;

  /// For the passes of one provider, told by its position: open are the nodes that it has kernels for, sealed all others of the graph and
  /// its subgraphs. With kNobody open are those that no provider has. Takes all that the assignment says of nodes.
  SealedNodes(Graph& graph, Assignment& assignment, int open);
  SealedNodes(const SealedNodes&) = delete;
  SealedNodes& operator=(const SealedNodes&) = delete;

  /// Gives the sealed nodes and their assignments back, wherever they are now. Open ones are of no provider then; those that passes made
  /// have the refusals of the first that they stand for, and of each its own.
  void unseal(Graph& graph, Assignment& assignment);

  /// Inference for sealed nodes: as of the operators that they are. False for all others, and where the operator is not known.
  static bool infer(const NodeView& node, InferenceContext& context);

 private:
  void seal(Graph& graph, Assignment& assignment, std::vector<Graph*>& enclosing);
  void keep_refusals(const Node& node, const NodeAssignment& assigned);
  void give_refusals(const Node& node, NodeAssignment& assigned) const;

  int open_;
  std::vector<NodeAssignment> taken_;  ///< by the number in the node's domain
  std::unordered_map<const OriginalNode*, std::vector<Refusal>> refusals_;
  std::unordered_map<std::string, std::vector<Refusal>> refusals_by_name_;  ///< of nodes that stand for none of the model
};

}  // namespace rh
