#include "partition/placement.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace rh {

namespace {

void collect(Graph& graph, OriginalNodes& originals, std::unordered_set<const OriginalNode*>& seen) {
  int32_t index = 0;
  for (NodeId id : graph.nodes()) {
    Node& node = graph.mutable_node(id);
    if (node.provenance.empty()) {
      node.provenance.push_back(
          std::make_shared<const OriginalNode>(OriginalNode{node.name, node.op_type, index, node.domain, node.opset, nullptr}));
    }
    ++index;
    // Only calls of functions stand in the provenance of more than one node.
    const bool is_itself = node.provenance.size() == 1 && node.provenance[0]->op_type == node.op_type;
    for (const auto& original : node.provenance) {
      if (is_itself || seen.insert(original.get()).second) originals.push_back(original);
    }
    Graph::for_each_subgraph(node, [&](Graph& subgraph) { collect(subgraph, originals, seen); });
  }
}

// Nodes of bodies come after the calls.
void add_bodies(OriginalNodes& originals, const OriginalNodes& bodies) {
  if (bodies.empty()) return;
  std::unordered_map<const OriginalNode*, OriginalNodes> by_call;
  for (const auto& inner : bodies) by_call[inner->caller.get()].push_back(inner);
  OriginalNodes all;
  for (auto& original : originals) {
    const auto own = by_call.find(original.get());
    all.push_back(std::move(original));
    if (own != by_call.end()) all.insert(all.end(), own->second.begin(), own->second.end());
  }
  originals = std::move(all);
}

}  // namespace

OriginalNodes collect_originals(Graph& graph) {
  OriginalNodes originals;
  std::unordered_set<const OriginalNode*> seen;
  originals.reserve(graph.node_count());
  collect(graph, originals, seen);
  return originals;
}

PlacementRecord::PlacementRecord(OriginalNodes originals, const Graph& graph, const Assignment& assignment,
                                 std::span<const std::shared_ptr<Provider>> providers, std::vector<EliminatedNode> eliminated)
    : originals_(std::move(originals)), eliminated_(std::move(eliminated)) {
  add_bodies(originals_, assignment.body_nodes);
  for (const auto& provider : providers) providers_.emplace_back(provider->name());
  placed_.reserve(graph.node_count());
  note(graph, assignment);
}

void PlacementRecord::note(const Graph& graph, const Assignment& assignment) {
  const std::vector<NodeId> nodes = graph.nodes();
  for (NodeId id : nodes) {
    Graph::for_each_subgraph(graph.node(id), [&](const Graph& subgraph) { note(subgraph, assignment); });
  }
  for (NodeId id : nodes) {
    const NodeAssignment& assigned = assignment.of(graph, id);
    Placed& placed = placed_.emplace_back(&graph.node(id), assigned.provider, assigned.kernel, assigned.refusals, assigned.member_refusals);
    if (!assigned.unit) continue;
    const Graph& body = *assigned.unit->body;
    for (NodeId inner : body.nodes()) placed.compiled.push_back({body.node(inner).name, body.node(inner).domain, body.node(inner).op_type});
  }
}

std::vector<Refusal> PlacementRecord::Placed::refusals_of(const OriginalNode& original) const {
  if (compiled.empty()) return rh::refusals_of(original, refusals, member_refusals);
  const auto own = member_refusals.find(&original);
  return own == member_refusals.end() ? std::vector<Refusal>() : own->second;
}

/// Turns a record into rows.
class PlacementRecord::Writer {
 public:
  explicit Writer(const PlacementRecord& record) : record_(record), rows_(record.originals_.size()) {
    for (size_t i = 0; i < rows_.size(); ++i) start_row(*record.originals_[i], rows_[i]);
    for (const auto& original : record.originals_) {
      if (original->caller) calls_.insert(original->caller.get());
    }
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i].call = calls_.contains(record.originals_[i].get());
  }

  std::vector<NodePlacement> write() && {
    for (const EliminatedNode& gone : record_.eliminated_) add_elimination(gone);
    for (const Placed& placed : record_.placed_) add(placed);
    for (NodePlacement& row : rows_) finish(row);
    return std::move(rows_);
  }

 private:
  void start_row(const OriginalNode& original, NodePlacement& row) {
    row.node = original.display_name();
    row.op_type = original.op_type;
    row.domain = original.domain;
    row.opset = original.opset;
    if (original.caller) row.function = original.caller->display_name();
    row_of_.emplace(&original, &row);
  }

  void add_elimination(const EliminatedNode& gone) {
    const auto at = row_of_.find(gone.node.get());
    if (at == row_of_.end() || !at->second->pass.empty()) return;
    at->second->pass = gone.pass;
    at->second->reason = "gone after pass " + at->second->pass;
  }

  void add(const Placed& placed) {
    std::vector<std::string> fused;
    for (const auto& original : placed.node->provenance) {
      if (!calls_.contains(original.get())) fused.push_back(original->display_name());
    }
    for (const auto& original : placed.node->provenance) {
      const auto at = row_of_.find(original.get());
      if (at == row_of_.end()) continue;
      NodePlacement& row = *at->second;
      const bool first = row.runs_as.empty();
      if (first) {
        row.runs_as = placed.node->display_name();
        row.refusals = placed.refusals_of(*original);
        row.unit = placed.compiled.empty() ? std::string() : placed.node->name;
        row.reason.clear();
        row.pass.clear();
        if (fused.size() > 1 && !row.call) row.fused_from = fused;
      }
      add_provider(row, placed, first);
      if (row.kernel.find(placed.kernel) == std::string::npos) row.kernel += (row.kernel.empty() ? "" : " + ") + placed.kernel;
    }
  }

  void add_provider(NodePlacement& row, const Placed& placed, bool first) const {
    const std::string name = placed.provider < 0 ? std::string() : record_.providers_[static_cast<size_t>(placed.provider)];
    if (first) {
      row.provider = name;
      row.fate = name.empty() ? NodeFate::unassigned : NodeFate::runs;
    } else if (name.empty() || row.fate == NodeFate::unassigned) {
      row.fate = NodeFate::unassigned;
    } else if (row.provider != name) {
      row.fate = NodeFate::divided;
    }
  }

  // Providers behind the one that has the node were not asked for it. The CPU takes what is left, and refuses nothing.
  void add_later(NodePlacement& row) const {
    const auto& providers = record_.providers_;
    const auto own = std::ranges::find(providers, row.provider);
    for (auto later = own == providers.end() ? own : own + 1; later != providers.end(); ++later) {
      if (*later == "CPUExecutionProvider" || std::ranges::find(row.refusals, *later, &Refusal::provider) != row.refusals.end()) continue;
      row.refusals.push_back({*later, RefusalCode::claimed_earlier, row.provider + " was asked before, and has the node"});
    }
  }

  void finish(NodePlacement& row) const {
    if (row.fate == NodeFate::runs) return add_later(row);
    row.provider.clear();
    if (row.fate == NodeFate::unassigned) row.reason = "no execution provider takes it";
    if (row.fate == NodeFate::divided) row.reason = "its function is divided among execution providers";
    if (row.reason.empty()) row.reason = "removed at load";
  }

  const PlacementRecord& record_;
  std::vector<NodePlacement> rows_;
  std::unordered_map<const OriginalNode*, NodePlacement*> row_of_;
  std::unordered_set<const OriginalNode*> calls_;
};

std::vector<NodePlacement> PlacementRecord::nodes() const { return Writer(*this).write(); }

std::vector<const OriginalNode*> PlacementRecord::originals() const {
  std::vector<const OriginalNode*> list;
  for (const auto& original : originals_) list.push_back(original.get());
  return list;
}

PlacementCounts PlacementRecord::counts() const {
  PlacementCounts counts;
  for (const std::string& provider : providers_) counts.providers.emplace_back(provider, 0);
  for (const NodePlacement& row : nodes()) {
    if (!row.function.empty()) continue;
    ++counts.nodes;
    switch (row.fate) {
      case NodeFate::runs: ++std::ranges::find(counts.providers, row.provider, &std::pair<std::string, size_t>::first)->second; break;
      case NodeFate::removed: ++counts.removed; break;
      case NodeFate::divided: ++counts.divided; break;
      case NodeFate::unassigned: ++counts.unassigned; break;
    }
  }
  return counts;
}

std::vector<AssignedNodes> PlacementRecord::assigned() const {
  std::vector<AssignedNodes> result;
  for (size_t p = 0; p < providers_.size(); ++p) {
    for (const Placed& placed : placed_) {
      if (placed.provider != static_cast<int>(p)) continue;
      const Node& node = *placed.node;
      result.push_back({providers_[p], placed.compiled});
      if (placed.compiled.empty()) result.back().nodes.push_back({node.name, node.domain, node.op_type});
    }
  }
  return result;
}

std::vector<std::string> PlacementRecord::log_lines() const {
  std::vector<size_t> counts(providers_.size(), 0);
  for (const Placed& placed : placed_) {
    if (placed.provider >= 0) ++counts[static_cast<size_t>(placed.provider)];
  }
  const auto used = [](size_t count) { return count > 0; };
  std::vector<std::string> lines{"Node placements"};
  if (std::ranges::count_if(counts, used) == 1) {
    const auto only = static_cast<size_t>(std::ranges::find_if(counts, used) - counts.begin());
    lines.push_back(fmt::format(" All nodes placed on [{}]. Number of nodes: {}", providers_[only], counts[only]));
    return lines;
  }
  for (size_t p = 0; p < counts.size(); ++p) {
    if (counts[p] == 0) continue;
    lines.push_back(fmt::format(" Node(s) placed on [{}]. Number of nodes: {}", providers_[p], counts[p]));
    for (const Placed& placed : placed_) {
      if (placed.provider != static_cast<int>(p)) continue;
      std::string line = fmt::format("  {} ({})", placed.node->op_type, placed.node->name);
      for (const Refusal& refusal : placed.refusals) {
        line += fmt::format(" - not on {}: {} ({})", refusal.provider, refusal.reason, to_string(refusal.code));
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string PlacementRecord::missed_preferred() const {
  std::map<std::string_view, size_t> missed;
  size_t count = 0;
  for (const Placed& placed : placed_) {
    if (placed.provider == 0) continue;
    ++missed[placed.node->op_type];
    ++count;
  }
  if (count == 0) return {};
  std::vector<std::pair<std::string_view, size_t>> most(missed.begin(), missed.end());
  std::ranges::stable_sort(most, std::greater<>(), &std::pair<std::string_view, size_t>::second);
  constexpr size_t kNamed = 5;
  std::string names;
  for (size_t i = 0; i < std::min(most.size(), kNamed); ++i) {
    names += fmt::format("{}{} {}", i ? ", " : "", most[i].second, most[i].first);
  }
  if (most.size() > kNamed) names += ", ...";
  return fmt::format("{} of {} nodes are not on the preferred {}: {}. At log severity 0 it is said where each node is, and why.", count,
                     placed_.size(), providers_[0], names);
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
    for (const Refusal& refusal : entry.refusals)
      text += fmt::format("  [{}: {} ({})]", refusal.provider, refusal.reason, to_string(refusal.code));
    text += '\n';
  }
  return text;
}

}  // namespace rh
