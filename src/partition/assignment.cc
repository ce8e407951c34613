#include "partition/assignment.h"

#include <algorithm>

namespace rh {

void Assignment::assign_graph(const Graph& graph, std::span<const std::shared_ptr<Provider>> providers) {
  std::vector<NodeAssignment> assigned(static_cast<size_t>(graph.node_slots()));
  std::vector<NodeId> left = graph.nodes();
  for (size_t p = 0; p < providers.size() && !left.empty(); ++p) {
    const std::vector<Answer> answers = providers[p]->capability(graph, left);
    std::vector<NodeId> refused;
    for (const Answer& answer : answers) {
      NodeAssignment& node = assigned[static_cast<size_t>(answer.node)];
      if (answer.refusal.empty()) {
        node.provider = static_cast<int>(p);
        node.kernel = answer.kernel;
      } else {
        node.refusals.push_back({std::string(providers[p]->name()), answer.refusal});
        refused.push_back(answer.node);
      }
    }
    left = std::move(refused);
  }
  nodes_[&graph] = std::move(assigned);
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.node(id), [&](const Graph& subgraph) { assign_graph(subgraph, providers); });
  }
}

Assignment assign(const Graph& graph, std::span<const std::shared_ptr<Provider>> providers) {
  Assignment assignment;
  assignment.assign_graph(graph, providers);
  return assignment;
}

namespace {

constexpr size_t kMaxNamed = 10;

void find_unassigned(const Graph& graph, const Assignment& assignment, std::vector<std::string>& lines, size_t& count, Where& first) {
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const NodeAssignment& assigned = assignment.of(graph, id);
    if (assigned.provider < 0) {
      if (count++ == 0) first = node.where();
      std::string line = "node '" + node.display_name() + "' (" + node.op_text() + ")";
      for (const Refusal& refusal : assigned.refusals) line += "; " + refusal.provider + ": " + refusal.reason;
      if (lines.size() < kMaxNamed) lines.push_back(std::move(line));
    }
    Graph::for_each_subgraph(node, [&](const Graph& subgraph) { find_unassigned(subgraph, assignment, lines, count, first); });
  }
}

void collect(Graph& graph, OriginalNodes& originals) {
  int32_t index = 0;
  for (NodeId id : graph.nodes()) {
    Node& node = graph.mutable_node(id);
    if (node.provenance.empty()) {
      node.provenance.push_back(std::make_shared<const OriginalNode>(OriginalNode{node.name, node.op_type, index}));
    }
    ++index;
    originals.insert(originals.end(), node.provenance.begin(), node.provenance.end());
    Graph::for_each_subgraph(node, [&](Graph& subgraph) { collect(subgraph, originals); });
  }
}

using Placements = std::unordered_map<const OriginalNode*, NodePlacement*>;

void fill(const Graph& graph, const Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers, Placements& placements) {
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const NodeAssignment& assigned = assignment.of(graph, id);
    for (const auto& original : node.provenance) {
      const auto at = placements.find(original.get());
      if (at == placements.end() || assigned.provider < 0) continue;
      NodePlacement& entry = *at->second;
      entry.provider = providers[static_cast<size_t>(assigned.provider)]->name();
      if (entry.kernel.find(assigned.kernel) == std::string::npos) entry.kernel += (entry.kernel.empty() ? "" : " + ") + assigned.kernel;
      entry.refusals = assigned.refusals;
      entry.reason.clear();
    }
    Graph::for_each_subgraph(node, [&](const Graph& subgraph) { fill(subgraph, assignment, providers, placements); });
  }
}

}  // namespace

void check_all_assigned(const Graph& graph, const Assignment& assignment) {
  std::vector<std::string> lines;
  size_t count = 0;
  Where first;
  find_unassigned(graph, assignment, lines, count, first);
  if (count == 0) return;
  std::string message = fmt::format("no execution provider takes {} node{} of the model:", count, count == 1 ? "" : "s");
  for (const std::string& line : lines) message += "\n  " + line;
  if (count > lines.size()) message += fmt::format("\n  and {} more", count - lines.size());
  throw Error(ErrorCode::not_implemented, std::move(message), std::move(first));
}

OriginalNodes collect_originals(Graph& graph) {
  OriginalNodes originals;
  collect(graph, originals);
  std::unordered_map<const OriginalNode*, bool> seen;
  std::erase_if(originals, [&](const auto& original) { return !seen.emplace(original.get(), true).second; });
  return originals;
}

std::vector<NodePlacement> report_placement(const OriginalNodes& originals, const Graph& graph, const Assignment& assignment,
                                            std::span<const std::shared_ptr<Provider>> providers, const EliminationReasons& reasons) {
  std::vector<NodePlacement> report(originals.size());
  Placements placements;
  for (size_t i = 0; i < originals.size(); ++i) {
    const OriginalNode& original = *originals[i];
    report[i].node = original.name.empty() ? "#" + std::to_string(original.index) : original.name;
    report[i].op_type = original.op_type;
    const auto reason = reasons.find(&original);
    report[i].reason = reason == reasons.end() ? "removed at load" : reason->second;
    placements.emplace(&original, &report[i]);
  }
  fill(graph, assignment, providers, placements);
  return report;
}

std::string to_text(const std::vector<NodePlacement>& placement) {
  size_t width = 4, op_width = 8;
  for (const NodePlacement& entry : placement) {
    width = std::max(width, std::min<size_t>(entry.node.size(), 48));
    op_width = std::max(op_width, std::min<size_t>(entry.op_type.size(), 24));
  }
  std::string text;
  for (const NodePlacement& entry : placement) {
    text += fmt::format("{:<{}}  {:<{}}  ", entry.node, width, entry.op_type, op_width);
    text += entry.provider.empty() ? "(" + entry.reason + ")" : entry.provider + "  " + entry.kernel;
    for (const Refusal& refusal : entry.refusals) text += "  [" + refusal.provider + ": " + refusal.reason + "]";
    text += '\n';
  }
  return text;
}

}  // namespace rh
