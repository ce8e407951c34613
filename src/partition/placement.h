#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "partition/assignment.h"
#include "providers/provider.h"

namespace rh {

/// What became of a node: a provider runs it, a pass removed it, it calls a function whose nodes are of several providers, or no provider
/// takes it.
enum class NodeFate : uint8_t { runs, removed, divided, unassigned };

/// What became of one node of the model as it was read.
struct NodePlacement {
  std::string node;      ///< name, or "#<index>" where it has none
  std::string op_type;   ///< as in the model
  std::string domain;    ///< "" is ai.onnx
  int opset = 0;         ///< version of its domain that the model imports
  std::string function;  ///< of a node in the body of a function that is in the place of its call: the node that calls it
  bool call = false;     ///< it calls such a function, whose nodes stand for it
  NodeFate fate = NodeFate::removed;
  std::string provider;                 ///< empty unless it runs
  std::string kernel;                   ///< operators that compute it in the final graph, with their opsets: "Conv(11)"
  std::string runs_as;                  ///< the first node of the final graph that stands for it
  std::vector<std::string> fused_from;  ///< all nodes of the model that `runs_as` stands for, where there are others
  std::string unit;                     ///< the compiled unit that it is part of; empty where it runs as a node
  std::string pass;                     ///< that removed it
  std::string reason;                   ///< why it does not run ("gone after pass fold_constants")
  std::vector<Refusal> refusals;
};

/// The nodes of a model as it was read, to be asked about later; nodes without provenance get themselves.
using OriginalNodes = std::vector<std::shared_ptr<const OriginalNode>>;
OriginalNodes collect_originals(Graph& graph);

/// How many nodes of the model, subgraphs included, went where. A call of a model-local function counts once, and the nodes of its body
/// not. The numbers add up to `nodes`.
struct PlacementCounts {
  size_t nodes = 0;
  std::vector<std::pair<std::string, size_t>> providers;  ///< in order of preference; those without a node too
  size_t removed = 0;                                     ///< by passes
  size_t divided = 0;                                     ///< calls whose function is divided among providers
  size_t unassigned = 0;                                  ///< no provider takes them
};

/// Nodes that a provider took together: those of a compiled unit, or one that it has a kernel for.
struct AssignedNodes {
  struct Name {
    std::string name, domain, op_type;
  };
  std::string provider;
  std::vector<Name> nodes;
};

/// Who runs what of a model, noted briefly while it is divided; texts are made when somebody asks.
class PlacementRecord {
 public:
  PlacementRecord() = default;
  /// Of an assigned graph, which must outlive this.
  PlacementRecord(OriginalNodes originals, const Graph& graph, const Assignment& assignment,
                  std::span<const std::shared_ptr<Provider>> providers, std::vector<EliminatedNode> eliminated = {});

  /// One entry for each original node, in their order.
  std::vector<NodePlacement> nodes() const;
  /// Those that the entries are of.
  std::vector<const OriginalNode*> originals() const;
  PlacementCounts counts() const;
  /// By provider in the order of preference; subgraphs come before the graph that they are in.
  std::vector<AssignedNodes> assigned() const;
  /// For the log: a heading, then that all nodes of the final graph are on one provider, or the nodes of each.
  std::vector<std::string> log_lines() const;
  /// What a user who asked for a provider has to know: how many nodes are not on the first one, and of which operators. Empty where all
  /// are.
  std::string missed_preferred() const;

 private:
  struct Placed {
    const Node* node;
    int provider;
    std::string kernel;
    std::vector<Refusal> refusals;
    MemberRefusals member_refusals;
    std::vector<AssignedNodes::Name> compiled = {};  ///< of a unit: the nodes that it stands for, as they were then

    std::vector<Refusal> refusals_of(const OriginalNode& original) const;
  };
  class Writer;
  void note(const Graph& graph, const Assignment& assignment);

  OriginalNodes originals_;
  std::vector<Placed> placed_;
  std::vector<std::string> providers_;
  std::vector<EliminatedNode> eliminated_;
};

/// A table for people: one line a node.
std::string to_text(const std::vector<NodePlacement>& placement);

}  // namespace rh
