#include "passes/precision/known_names.h"

#include <algorithm>

#include "base/nearest.h"

namespace rh::precision {

namespace {

void check_names(const std::vector<std::string>& asked, const std::vector<std::string>& known, const char* what) {
  for (const std::string& name : asked) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    const std::string_view best = nearest(name, candidates);
    fail(ErrorCode::invalid_argument, "precision: the graph has no {} '{}'{}", what, name,
         best.empty() ? std::string() : fmt::format("; the nearest is '{}'", best));
  }
}

}  // namespace

std::string operator_name(const Node& node) { return node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type; }

KnownNames::KnownNames(const Graph& graph) {
  add(graph);
  for (const auto* list : {&graph.inputs(), &graph.outputs()}) {
    for (ValueId id : *list) ends_.push_back(graph.value(id).name);
  }
}

void KnownNames::add(const Graph& graph) {
  for (ValueId id = 0; id < graph.value_count(); ++id) values_.insert(graph.value(id).name);
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    nodes_.push_back(node.name);
    operators_.push_back(operator_name(node));
    Graph::for_each_subgraph(node, [&](const Graph& body) { add(body); });
  }
}

void KnownNames::check_nodes(const std::vector<std::string>& names) const { check_names(names, nodes_, "node"); }

void KnownNames::check_operators(const std::vector<std::string>& names) const { check_names(names, operators_, "operator"); }

void KnownNames::check_ends(const std::vector<std::string>& names) const { check_names(names, ends_, "input or output"); }

}  // namespace rh::precision
