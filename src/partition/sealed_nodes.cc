#include "partition/sealed_nodes.h"

#include <charconv>
#include <optional>
#include <span>
#include <string>

#include "ops/registry.h"

namespace rh {

namespace {

// A sealed node's domain: this, its number, a slash, the domain that it had.
constexpr std::string_view kPrefix = "roundhouse.sealed/";

struct Seal {
  size_t number = 0;
  std::string_view domain;
};

std::optional<Seal> seal_of(const Node& node) {
  std::string_view text = node.domain;
  if (!text.starts_with(kPrefix)) return {};
  text.remove_prefix(kPrefix.size());
  Seal seal;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seal.number);
  if (error != std::errc() || end == text.data() + text.size() || *end != '/') return {};
  seal.domain = text.substr(static_cast<size_t>(end - text.data()) + 1);
  return seal;
}

/// Keeps a value that a node gives, in its graph or, where it stands for one, in those around it.
void pin(std::span<Graph* const> graphs, ValueId id) {
  while (id != kNoValue && !graphs.empty()) {
    Graph& graph = *graphs.back();
    if (graph.value(id).producer != kNoNode) graph.pin(id);
    id = graph.value(id).outer;
    graphs = graphs.first(graphs.size() - 1);
  }
}

}  // namespace

SealedNodes::SealedNodes(Graph& graph, Assignment& assignment, int open) : open_(open) {
  std::vector<Graph*> enclosing;
  seal(graph, assignment, enclosing);
  assignment.clear_nodes();
}

void SealedNodes::seal(Graph& graph, Assignment& assignment, std::vector<Graph*>& enclosing) {
  enclosing.push_back(&graph);
  for (NodeId id : graph.nodes()) {
    Node& node = graph.mutable_node(id);
    Graph::for_each_subgraph(node, [&](Graph& subgraph) {
      if (assignment.knows(subgraph)) seal(subgraph, assignment, enclosing);
    });
    NodeAssignment& assigned = assignment.of(graph, id);
    if (assigned.provider == open_ && !assigned.unit) {
      keep_refusals(node, assigned);
      continue;
    }
    node.domain = fmt::format("{}{}/{}", kPrefix, taken_.size(), node.domain);
    taken_.push_back(std::move(assigned));
    for (const auto* values : {&node.inputs, &node.outputs, &node.implicit_inputs}) {
      for (ValueId value : *values) pin(enclosing, value);
    }
  }
  enclosing.pop_back();
}

void SealedNodes::keep_refusals(const Node& node, const NodeAssignment& assigned) {
  if (assigned.refusals.empty()) return;
  if (node.provenance.empty()) refusals_by_name_.try_emplace(node.name, assigned.refusals);
  for (const auto& original : node.provenance) {
    refusals_.try_emplace(original.get(), refusals_of(*original, assigned.refusals, assigned.member_refusals));
  }
}

void SealedNodes::give_refusals(const Node& node, NodeAssignment& assigned) const {
  if (node.provenance.empty()) {
    if (const auto at = refusals_by_name_.find(node.name); at != refusals_by_name_.end()) assigned.refusals = at->second;
    return;
  }
  if (const auto at = refusals_.find(node.provenance[0].get()); at != refusals_.end()) assigned.refusals = at->second;
  if (node.provenance.size() == 1) return;
  for (const auto& original : node.provenance) {
    if (const auto at = refusals_.find(original.get()); at != refusals_.end()) assigned.member_refusals.insert(*at);
  }
}

void SealedNodes::unseal(Graph& graph, Assignment& assignment) {
  std::vector<NodeAssignment>& nodes = assignment.nodes_of(graph);
  nodes.resize(static_cast<size_t>(graph.node_slots()));
  for (NodeId id : graph.nodes()) {
    Node& node = graph.mutable_node(id);
    Graph::for_each_subgraph(node, [&](Graph& subgraph) { unseal(subgraph, assignment); });
    NodeAssignment& assigned = assignment.of(graph, id);
    if (const auto seal = seal_of(node)) {
      assigned = std::move(taken_[seal->number]);
      node.domain = std::string(seal->domain);
    } else {
      give_refusals(node, assigned);
    }
  }
  graph.unpin_all();
}

bool SealedNodes::infer(const NodeView& node, InferenceContext& context) {
  const auto seal = seal_of(node.node());
  const OpEntry* op = seal ? find_op(seal->domain, node.node().op_type) : nullptr;
  if (!op) return false;
  op->infer(node, context);
  return true;
}

}  // namespace rh
