#include "partition/assignment.h"

#include <algorithm>
#include <unordered_set>

#include "base/known_words.h"
#include "ops/registry.h"
#include "ops/schema.h"
#include "partition/claims.h"
#include "partition/function_bodies.h"
#include "partition/fuse.h"
#include "partition/layout.h"
#include "partition/sealed_nodes.h"
#include "passes/driver/pass.h"

namespace rh {

Device Assignment::location(const Graph& graph, ValueId value) const {
  const auto at = locations_.find(&graph);
  return at == locations_.end() || static_cast<size_t>(value) >= at->second.size() ? Device{} : at->second[static_cast<size_t>(value)];
}

std::vector<Refusal> refusals_of(const OriginalNode& original, const std::vector<Refusal>& refusals, const MemberRefusals& members) {
  const auto own = members.find(&original);
  if (own == members.end()) return refusals;
  std::vector<Refusal> all = own->second;
  for (const Refusal& refusal : refusals) {
    if (std::ranges::find(all, refusal.provider, &Refusal::provider) == all.end()) all.push_back(refusal);
  }
  return all;
}

namespace {

/// Divides a graph and its subgraphs among the providers.
class Partitioner {
 public:
  Partitioner(Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers)
      : assignment_(assignment), providers_(providers), unit_counts_(providers.size(), 0) {}

  /// Asks the providers from `first` on, up to `end`, for the nodes of the graph and its subgraphs that none has, and makes units of what
  /// they claim for them. With `bodies`, for their nodes alone.
  void divide(Graph& graph, size_t first, size_t end, std::shared_ptr<Graph>* claimed = nullptr, const FunctionBodies* bodies = nullptr) {
    bodies_ = bodies;
    claim(graph, first, end);
    if (claimed) *claimed = graph.clone();
    for (const GraphClaims& own : claimed_) {
      for (const auto& [p, claim] : own.units) make_unit(*own.graph, p, claim);
    }
    claimed_.clear();
  }

 private:
  void claim(Graph& graph, size_t first, size_t end) {
    assignment_.nodes_of(graph).resize(static_cast<size_t>(graph.node_slots()));
    Claims claims(graph);
    GraphClaims own{&graph, {}};
    std::vector<NodeId> left;
    for (NodeId id : graph.nodes()) {
      if (assignment_.of(graph, id).provider < 0 && (!bodies_ || bodies_->contains(graph, id))) {
        left.push_back(id);
      } else {
        claims.keep(id);
      }
    }
    for (size_t p = first; p < end && !left.empty(); ++p) {
      Capability capability = ask(graph, p, claims, left);
      std::vector<NodeAssignment>& assigned = assignment_.nodes_of(graph);
      for (Claim& claim : capability.claims) {
        if (refuse_taken(graph, claims, assigned, claim, p)) continue;
        drop_repeated(graph, claim, p);
        if (const auto fault = claims.take(claim, providers_[p]->name())) {
          refuse(graph, claims, assigned, claim, p, *fault);
          continue;
        }
        for (NodeId id : claim.nodes) take(assigned[static_cast<size_t>(id)], p, claim);
        if (claim.compiled) own.units.emplace_back(p, std::move(claim));
      }
      keep_refusals(p, capability.refusals, claims, left, assigned);
    }
    std::unordered_set<NodeId> in_units;
    for (const auto& [p, claim] : own.units) in_units.insert(claim.nodes.begin(), claim.nodes.end());
    claimed_.push_back(std::move(own));
    for (NodeId id : graph.nodes()) {
      if (!in_units.contains(id)) Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& subgraph) { claim(subgraph, first, end); });
    }
  }

  struct GraphClaims {
    Graph* graph;
    std::vector<std::pair<size_t, Claim>> units;  ///< with their providers
  };

  // In the layout that the provider prefers, of those nodes that it takes there as well.
  Capability ask(Graph& graph, size_t p, Claims& claims, std::vector<NodeId>& left) {
    Provider& provider = *providers_[p];
    Capability answer = provider.capability(graph, left);
    std::vector<NodeId> movable, wanted, refused;
    for (const Claim& claim : answer.claims) {
      for (NodeId id : claim.nodes) {
        if (!graph.find_node(id) || claims.is_taken(id)) continue;
        movable.push_back(id);
        if (provider.wants_channels_last(graph.node(id)) && can_be_channels_last(graph, graph.node(id))) wanted.push_back(id);
      }
    }
    while (!wanted.empty()) {
      const std::shared_ptr<Graph> before = graph.clone();
      make_channels_last(graph, wanted, movable);
      follow_graph(graph, claims);
      std::vector<NodeId> changed = without(left, refused);
      for (NodeId id : graph.nodes()) {
        if (id >= before->node_slots()) changed.push_back(id);
      }
      answer = provider.capability(graph, changed);
      const std::vector<NodeId> lost = without(wanted, nodes_of(answer));
      if (lost.empty()) {
        for (NodeId id : refused) changed.push_back(id);
        left = std::move(changed);
        break;
      }
      graph.restore(std::move(*before));
      follow_graph(graph, claims);
      for (NodeId id : lost) {
        assignment_.nodes_of(graph)[static_cast<size_t>(id)].refusals.push_back(
            {std::string(provider.name()), RefusalCode::layout, "it took the node, but not with channels last, which it prefers"});
      }
      refused.insert(refused.end(), lost.begin(), lost.end());
      wanted = without(wanted, lost);
      if (wanted.empty()) answer = provider.capability(graph, without(left, refused));
    }
    std::erase_if(answer.claims, [&](const Claim& claim) {
      return std::ranges::any_of(claim.nodes, [&](NodeId id) { return std::ranges::find(refused, id) != refused.end(); });
    });
    return answer;
  }

  void follow_graph(const Graph& graph, Claims& claims) {
    claims.follow_graph();
    assignment_.nodes_of(graph).resize(static_cast<size_t>(graph.node_slots()));
  }

  static std::vector<NodeId> without(std::vector<NodeId> nodes, const std::vector<NodeId>& gone) {
    const std::unordered_set<NodeId> set(gone.begin(), gone.end());
    std::erase_if(nodes, [&](NodeId id) { return set.contains(id); });
    return nodes;
  }

  static std::vector<NodeId> nodes_of(const Capability& capability) {
    std::vector<NodeId> nodes;
    for (const Claim& claim : capability.claims) nodes.insert(nodes.end(), claim.nodes.begin(), claim.nodes.end());
    return nodes;
  }

  static void take(NodeAssignment& node, size_t provider, const Claim& claim) {
    node.provider = static_cast<int>(provider);
    node.kernel = claim.kernel;
    node.host_inputs = claim.host_inputs;
    node.host_outputs = claim.host_outputs;
  }

  // Providers may be shown the whole graph: what they claim of nodes that others have, or they themselves since an earlier question, is
  // void.
  bool refuse_taken(const Graph& graph, const Claims& claims, std::vector<NodeAssignment>& assigned, const Claim& claim, size_t p) const {
    const auto is_own = [&](NodeId id) { return assigned[static_cast<size_t>(id)].provider == static_cast<int>(p); };
    const auto was_taken = [&](NodeId id) { return graph.find_node(id) && claims.is_taken(id) && (!is_own(id) || claims.is_kept(id)); };
    const auto taken = std::ranges::find_if(claim.nodes, was_taken);
    if (taken == claim.nodes.end()) return false;
    const Node& node = graph.node(*taken);
    const int position = assigned[static_cast<size_t>(*taken)].provider;  // of nobody: it will be the last one's
    const std::shared_ptr<Provider>& owner = position < 0 ? providers_.back() : providers_[static_cast<size_t>(position)];
    for (NodeId id : claim.nodes) {
      if (!graph.find_node(id) || is_own(id)) continue;
      assigned[static_cast<size_t>(id)].refusals.push_back(
          {std::string(providers_[p]->name()), RefusalCode::claimed_earlier,
           fmt::format("its claim includes node '{}', which {} has", node.display_name(), owner->name())});
    }
    return true;
  }

  // A node that is named twice in one claim counts once.
  void drop_repeated(const Graph& graph, Claim& claim, size_t p) {
    std::unordered_set<NodeId> seen;
    const auto repeated = [&](NodeId id) { return !seen.insert(id).second; };
    const auto first = std::ranges::find_if(claim.nodes, repeated);
    if (first == claim.nodes.end()) return;
    if (const Node* node = graph.find_node(*first)) {
      assignment_.void_claims.push_back(
          {std::string(providers_[p]->name()), fmt::format("its claim names node '{}' twice", node->display_name()), node->where()});
    }
    seen.clear();
    std::erase_if(claim.nodes, repeated);
  }

  // The claim is left out: its nodes that are free go to those who come after.
  void refuse(const Graph& graph, const Claims& claims, std::vector<NodeAssignment>& assigned, const Claim& claim, size_t p,
              const ClaimFault& fault) {
    const std::string name(providers_[p]->name());
    for (NodeId id : claim.nodes) {
      if (!claims.is_taken(id)) assigned[static_cast<size_t>(id)].refusals.push_back({name, fault.code, fault.reason});
    }
    assignment_.void_claims.push_back({name, fault.reason, graph.node(fault.node).where()});
  }

  void keep_refusals(size_t p, const std::vector<Capability::NodeRefusal>& refusals, const Claims& claims, std::vector<NodeId>& left,
                     std::vector<NodeAssignment>& assigned) const {
    const std::string name(providers_[p]->name());
    std::erase_if(left, [&](NodeId id) { return claims.is_taken(id); });
    for (const auto& refusal : refusals) {
      if (refusal.node < 0 || static_cast<size_t>(refusal.node) >= assigned.size() || claims.is_taken(refusal.node)) continue;
      assigned[static_cast<size_t>(refusal.node)].refusals.push_back({name, refusal.code, refusal.reason});
    }
    for (NodeId id : left) {
      auto& given = assigned[static_cast<size_t>(id)].refusals;
      if (given.empty() || given.back().provider != name) given.push_back({name, RefusalCode::unstated, "it did not claim the node"});
    }
  }

  // Nodes of bodies were not asked about: they go with the node that has them.
  static void add_member(const Node& node, const NodeAssignment& assigned, MemberRefusals& members) {
    if (assigned.refusals.empty()) return;
    for (const auto& original : node.provenance) {
      members.emplace(original.get(), refusals_of(*original, assigned.refusals, assigned.member_refusals));
    }
    Graph::for_each_subgraph(node, [&](const Graph& body) {
      for (NodeId id : body.nodes()) add_member(body.node(id), assigned, members);
    });
  }

  void make_unit(Graph& graph, size_t p, const Claim& claim) {
    const std::string provider(providers_[p]->name());
    MemberRefusals members;
    for (NodeId id : claim.nodes) add_member(graph.node(id), assignment_.of(graph, id), members);
    std::shared_ptr<Unit> unit = fuse(graph, claim, provider, fmt::format("{}_{}", provider, unit_counts_[p]++));
    std::vector<NodeAssignment>& assigned = assignment_.nodes_of(graph);
    std::vector<Refusal> refusals = assigned[static_cast<size_t>(claim.nodes[0])].refusals;
    assigned.resize(static_cast<size_t>(graph.node_slots()));
    NodeAssignment& node = assigned.back();
    node.member_refusals = std::move(members);
    for (const std::string& input : unit->inputs)
      node.unit_host_inputs.push_back(std::ranges::find(claim.host_values, input) != claim.host_values.end());
    node.provider = static_cast<int>(p);
    node.kernel = claim.kernel.empty() ? unit->body->name : claim.kernel;
    node.refusals = std::move(refusals);
    node.unit = std::move(unit);
  }

  Assignment& assignment_;
  std::span<const std::shared_ptr<Provider>> providers_;
  const FunctionBodies* bodies_ = nullptr;  ///< null: all nodes are asked for
  std::vector<int> unit_counts_;            ///< by provider, so that their names differ
  std::vector<GraphClaims> claimed_;
};

}  // namespace

namespace {

/// Visits the nodes of the graph and its subgraphs, but for those that went into units.
template <typename Visit>
void for_each_assigned(Graph& graph, Assignment& assignment, const Visit& visit) {
  for (NodeId id : graph.nodes()) {
    visit(assignment.of(graph, id));
    Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& subgraph) { for_each_assigned(subgraph, assignment, visit); });
  }
}

/// What the passes of the provider at position `p` make of the nodes that it took. Those that it has kernels for are of nobody afterwards,
/// and without the answers of providers from `p` on.
void rewrite_taken(Graph& graph, Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers, size_t p,
                   const RewriteByPasses& rewrite) {
  const Provider& provider = *providers[p];
  const int position = static_cast<int>(p);
  bool has_kernels = false;
  for_each_assigned(graph, assignment, [&](NodeAssignment& node) {
    if (node.provider != position) return;
    if (node.unit) rewrite(*node.unit->body, provider);
    has_kernels |= !node.unit;
  });
  if (!has_kernels) return;
  SealedNodes sealed(graph, assignment, position);
  rewrite(graph, provider);
  sealed.unseal(graph, assignment);
  const auto is_asked_again = [&](const Refusal& refusal) {
    return std::ranges::any_of(providers.subspan(p), [&](const auto& other) { return other->name() == refusal.provider; });
  };
  for_each_assigned(graph, assignment, [&](NodeAssignment& node) {
    if (node.provider >= 0) return;
    std::erase_if(node.refusals, is_asked_again);
    for (auto& [original, refusals] : node.member_refusals) std::erase_if(refusals, is_asked_again);
  });
}

// Not where `claimed` is wanted: that graph has the calls, and no unit of a body's nodes could stand in it.
void ask_for_bodies(Graph& graph, Assignment& assignment, Partitioner& partitioner, size_t end) {
  FunctionBodies bodies(graph, assignment);
  if (bodies.empty()) return;
  partitioner.divide(graph, 0, end, nullptr, &bodies);
  bodies.collapse_untaken();
}

}  // namespace

Assignment assign(Graph& graph, std::span<const std::shared_ptr<Provider>> providers, std::shared_ptr<Graph>* claimed,
                  const RewriteByPasses& rewrite) {
  Assignment assignment;
  Partitioner partitioner(assignment, providers);
  const size_t last = providers.size() - (rewrite ? 1 : 0);
  partitioner.divide(graph, 0, last, claimed);
  if (!rewrite) return assignment;
  if (last > 0 && !claimed) ask_for_bodies(graph, assignment, partitioner, last);
  for (size_t p = 0; p < last; ++p) {
    if (providers[p]->passes().empty()) continue;
    rewrite_taken(graph, assignment, providers, p, rewrite);
    partitioner.divide(graph, p, last);
  }
  SealedNodes sealed(graph, assignment, SealedNodes::kNobody);
  rewrite(graph, *providers[last]);
  sealed.unseal(graph, assignment);
  partitioner.divide(graph, last, providers.size());
  return assignment;
}

namespace {

constexpr size_t kMaxNamed = 10;

// Whether a custom operator of this name does not fit the node.
bool misfits(const std::vector<Refusal>& refusals) {
  return std::ranges::any_of(refusals, [](const Refusal& refusal) { return refusal.code == RefusalCode::type; });
}

// Operators that nobody knows are told from those that have no kernel.
ErrorCode code_of(const Node& node, const std::vector<Refusal>& refusals) {
  if (find_op(node.domain, node.op_type) || !ops::schema_history(node.domain, node.op_type).empty()) return ErrorCode::not_implemented;
  const bool is_standard = node.domain.empty() || node.domain == "ai.onnx" || node.domain == "ai.onnx.ml";
  return is_standard || misfits(refusals) ? ErrorCode::invalid_graph : ErrorCode::fail;
}

// What ONNX Runtime says of an operator that nobody knows.
std::string words_of(const Node& node, const std::vector<Refusal>& refusals) {
  const ErrorCode code = code_of(node, refusals);
  if (misfits(refusals) || code == ErrorCode::not_implemented) return {};
  if (code == ErrorCode::invalid_graph) return fmt::format(words::kNoOperator, node.op_type, node.opset) + ": ";
  return fmt::format(words::kNotRegistered, node.domain, node.op_type) + ": ";
}

void find_unassigned(const Graph& graph, const Assignment& assignment, std::vector<std::string>& lines, size_t& count, ErrorCode& code,
                     std::string& known, Where& first) {
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const NodeAssignment& assigned = assignment.of(graph, id);
    if (assigned.provider < 0) {
      if (count++ == 0) {
        first = node.where();
        code = code_of(node, assigned.refusals);
        known = words_of(node, assigned.refusals);
      }
      std::string line = "node '" + node.display_name() + "' (" + node.op_text() + ")";
      for (const Refusal& refusal : assigned.refusals) line += "; " + refusal.provider + ": " + refusal.reason;
      if (lines.size() < kMaxNamed) lines.push_back(std::move(line));
    }
    Graph::for_each_subgraph(node, [&](const Graph& subgraph) { find_unassigned(subgraph, assignment, lines, count, code, known, first); });
  }
}

}  // namespace

void check_all_assigned(const Graph& graph, const Assignment& assignment) {
  std::vector<std::string> lines;
  size_t count = 0;
  Where first;
  ErrorCode code = ErrorCode::not_implemented;
  std::string message;
  find_unassigned(graph, assignment, lines, count, code, message, first);
  if (count == 0) return;
  message += fmt::format("no execution provider takes {} node{} of the model:", count, count == 1 ? "" : "s");
  for (const std::string& line : lines) message += "\n  " + line;
  if (count > lines.size()) message += fmt::format("\n  and {} more", count - lines.size());
  throw Error(code, std::move(message), std::move(first));
}

}  // namespace rh
