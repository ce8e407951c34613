#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "partition/assignment.h"

namespace rh {

/// Calls of functions (ops/function_body.h) that no provider took, with their bodies in their place so that providers can be asked for
/// those nodes: ONNX Runtime asks again so.
class FunctionBodies {
 public:
  /// Expands the calls in the graph and its subgraphs, but for those of nodes that a provider has.
  FunctionBodies(Graph& graph, Assignment& assignment);

  bool empty() const { return calls_.empty(); }
  /// Whether the node is of a body.
  bool contains(const Graph& graph, NodeId node) const;
  /// A body of which no provider took a node becomes its call again, with the answers that were given for that; nodes of the others are
  /// noted (Assignment::body_nodes).
  void collapse_untaken();

 private:
  struct Call {
    Graph* graph;
    Node node;
    NodeAssignment answers;
    std::vector<NodeId> body;
    std::vector<std::shared_ptr<const OriginalNode>> originals;  ///< of the body
  };

  void expand(Graph& graph);
  bool is_untaken(const Call& call) const;

  Assignment& assignment_;
  std::vector<Call> calls_;
  std::unordered_map<const Graph*, std::unordered_set<NodeId>> nodes_;
};

}  // namespace rh
