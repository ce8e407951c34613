#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "providers/provider.h"

namespace rh {

/// Of a node that stands for several of the model, why each is not on providers that were asked before; those that nobody refused are not
/// in it.
using MemberRefusals = std::unordered_map<const OriginalNode*, std::vector<Refusal>>;

/// Why `original` is not on other providers, where a pass made one node of it and others: what was said of itself, then what those say that
/// were asked about the node alone.
std::vector<Refusal> refusals_of(const OriginalNode& original, const std::vector<Refusal>& refusals, const MemberRefusals& members);

/// Who runs a node of the final graph, and who does not.
struct NodeAssignment {
  int provider = -1;  ///< position in the list of providers; -1: none takes it
  std::string kernel;
  uint64_t host_inputs = 0, host_outputs = 0;  ///< as of Claim
  std::vector<bool> unit_host_inputs;          ///< of a node that stands for compiled ones: those that it takes in host memory
  std::vector<Refusal> refusals;
  MemberRefusals member_refusals;                 ///< of such a node, or one that passes made of several
  std::shared_ptr<Unit> unit;                     ///< of a node that stands for compiled ones
  std::unique_ptr<Kernel> compiled;               ///< its kernel, once it is compiled
  std::optional<std::pair<Device, Device>> copy;  ///< of a node that copies: from, to
};

/// A claim that a provider should not have made, and that is left out.
struct VoidClaim {
  std::string provider, reason;
  Where where;
};

/// The assignment of all nodes of a graph and of its subgraphs, and where their values are.
class Assignment {
 public:
  const NodeAssignment& of(const Graph& graph, NodeId node) const { return nodes_.at(&graph)[static_cast<size_t>(node)]; }
  NodeAssignment& of(const Graph& graph, NodeId node) { return nodes_.at(&graph)[static_cast<size_t>(node)]; }
  /// Host memory before place_copies().
  Device location(const Graph& graph, ValueId value) const;

  /// What partitioning fills in.
  std::vector<NodeAssignment>& nodes_of(const Graph& graph) { return nodes_[&graph]; }
  bool knows(const Graph& graph) const { return nodes_.contains(&graph); }
  void clear_nodes() { nodes_.clear(); }
  std::vector<Device>& locations_of(const Graph& graph) { return locations_[&graph]; }

  std::vector<VoidClaim> void_claims;
  std::vector<std::shared_ptr<const OriginalNode>> body_nodes;  ///< of functions that providers have only nodes of

 private:
  std::unordered_map<const Graph*, std::vector<NodeAssignment>> nodes_;
  std::unordered_map<const Graph*, std::vector<Device>> locations_;
};

/// Runs the passes of a provider (Provider::passes) over a graph whose nodes are its own, or sealed.
using RewriteByPasses = std::function<void(Graph& graph, const Provider& provider)>;

/// Asks the providers in order, each for the nodes that none before took, and keeps every answer. Claims are checked; the nodes of a claim
/// to compile become one node of the graph. Subgraphs come after the graph that they are in, but for those of nodes that went into a unit.
/// Claims that cannot be are left out: they are refusals, and void_claims.
/// Where a provider prefers another layout, the nodes that it takes are changed to it before. `claimed`, where it is not null, gets the
/// graph as it is before units are made of it and `rewrite` has seen it.
/// With `rewrite`, they are asked again for the nodes of functions (FunctionBodies) that none took, unless `claimed` is wanted;
/// each provider's passes run over what it was given (SealedNodes), and it is asked again about the nodes that they gave;
/// the last one's run over what the others left, before it is asked at all.
Assignment assign(Graph& graph, std::span<const std::shared_ptr<Provider>> providers, std::shared_ptr<Graph>* claimed = nullptr,
                  const RewriteByPasses& rewrite = {});

/// Throws Error that names the nodes which no provider takes, with the reasons: not_implemented, or as the interface has it for operators
/// that nobody knows, invalid_graph in domains of the standard and fail in others.
void check_all_assigned(const Graph& graph, const Assignment& assignment);

}  // namespace rh
