#include "graph/check.h"

#include <algorithm>
#include <unordered_set>

#include "base/known_words.h"

namespace rh {

namespace {

class Checker {
 public:
  Checker(const Graph& graph, const Graph* outer, const CheckOptions& options) : graph_(graph), outer_(outer), options_(options) {}

  void run() {
    for (NodeId id : graph_.nodes()) check_node(graph_.node(id));
    check_ports();
    for (ValueId id = 0; id < graph_.value_count(); ++id) check_value(graph_.value(id));
    check_consumers();
    graph_.topological_order();
    for (NodeId id : graph_.nodes()) {
      Graph::for_each_subgraph(graph_.node(id), [&](const Graph& subgraph) { Checker(subgraph, &graph_, options_).run(); });
    }
  }

 private:
  [[noreturn]] void fail_node(const Node& node, const std::string& message, ValueId value = kNoValue) const {
    Where where = node.where();
    if (value >= 0 && value < graph_.value_count()) where.tensor = graph_.value(value).name;
    throw Error(ErrorCode::invalid_graph, "graph '" + graph_.name + "': " + message, std::move(where));
  }

  [[noreturn]] void fail_value(const GraphValue& value, const std::string& message) const {
    Where where = value.producer != kNoNode && graph_.find_node(value.producer) ? graph_.node(value.producer).where() : Where{};
    where.tensor = value.name;
    throw Error(ErrorCode::invalid_graph, "graph '" + graph_.name + "': value '" + value.name + "' " + message, std::move(where));
  }

  void check_node(const Node& node) {
    if (node.op_type.empty()) fail_node(node, "a node has no operator");
    if (node.opset < 1) fail_node(node, fmt::format("a node has opset {}, expected at least 1", node.opset));
    const auto use = [&](ValueId id) {
      if (id == kNoValue) return;
      if (id < 0 || id >= graph_.value_count()) fail_node(node, fmt::format("an input is value {}, which does not exist", id));
      taken_.emplace_back(id, node.id);
    };
    for (ValueId id : node.inputs) use(id);
    for (ValueId id : node.implicit_inputs) use(id);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == kNoValue) continue;
      if (id < 0 || id >= graph_.value_count()) fail_node(node, fmt::format("output {} is value {}, which does not exist", i, id));
      const GraphValue& value = graph_.value(id);
      if (value.producer != node.id || value.output_index != static_cast<int>(i)) {
        fail_node(node, fmt::format("output {} names another node as its producer", i), id);
      }
      if (options_.types && !has_type(value.type)) fail_node(node, fmt::format("output {} has no type", i), id);
    }
    check_captures(node);
  }

  static bool has_type(const ValueType& type) {
    return !type.is_unknown() && (!type.is_tensor() || type.tensor().dtype != DType::undefined);
  }

  void check_captures(const Node& node) const {
    std::unordered_set<ValueId> listed(node.implicit_inputs.begin(), node.implicit_inputs.end());
    if (listed.size() != node.implicit_inputs.size()) fail_node(node, "a value that the subgraphs use is listed twice");
    Graph::for_each_subgraph(node, [&](const Graph& subgraph) {
      for (ValueId id = 0; id < subgraph.value_count(); ++id) {
        const ValueId outer = subgraph.value(id).outer;
        if (outer == kNoValue) continue;
        if (!listed.contains(outer)) {
          fail_node(node, "subgraph '" + subgraph.name + "' uses '" + subgraph.value(id).name + "', which the node does not list", outer);
        }
      }
    });
  }

  void check_ports() const {
    const auto flagged = [&](const std::vector<ValueId>& ids, bool GraphValue::* flag, const char* what) {
      for (ValueId id : ids) {
        if (id < 0 || id >= graph_.value_count()) fail(ErrorCode::invalid_graph, "graph '{}': {} {} does not exist", graph_.name, what, id);
        if (!(graph_.value(id).*flag)) fail_value(graph_.value(id), std::string("is not marked as ") + what);
      }
      const std::unordered_set<ValueId> listed(ids.begin(), ids.end());
      for (ValueId id = 0; id < graph_.value_count(); ++id) {
        if (graph_.value(id).*flag && !listed.contains(id) && !graph_.value(id).is_pinned)
          fail_value(graph_.value(id), std::string("is marked as ") + what + " but not listed");
      }
    };
    flagged(graph_.inputs(), &GraphValue::is_input, "an input of the graph");
    flagged(graph_.outputs(), &GraphValue::is_output, "an output of the graph");
  }

  void check_value(const GraphValue& value) {
    const bool used = !value.consumers.empty() || value.is_output;
    const int sources = (value.producer != kNoNode) + (value.is_input || !value.initializer.empty() || value.outer != kNoValue);
    if (used && sources == 0) fail_value(value, fmt::format("is used but nothing gives it. {}", fmt::format(words::kNoSource, value.name)));
    if (sources > 1) fail_value(value, "is given more than once");
    for (NodeId id : value.consumers) listed_.emplace_back(value.id, id);
    if (sources == 0) return;
    if (value.name.empty()) fail_value(value, "has no name");
    if (graph_.find_value(value.name) != value.id) fail_value(value, "shares its name with another value");
    if (value.producer != kNoNode) {
      const Node* node = graph_.find_node(value.producer);
      if (!node || value.output_index < 0 || static_cast<size_t>(value.output_index) >= node->outputs.size() ||
          node->outputs[static_cast<size_t>(value.output_index)] != value.id) {
        fail_value(value, "names a producer that does not give it");
      }
    }
    if (value.outer != kNoValue) {
      if (!outer_) fail_value(value, "stands for a value of an enclosing graph, but there is none");
      if (value.outer < 0 || value.outer >= outer_->value_count())
        fail_value(value, "stands for a value that the enclosing graph does not have");
    }
  }

  // Both lists hold a pair for each time that a node takes a value.
  void check_consumers() {
    std::sort(taken_.begin(), taken_.end());
    std::sort(listed_.begin(), listed_.end());
    const auto [taken, listed] = std::mismatch(taken_.begin(), taken_.end(), listed_.begin(), listed_.end());
    if (taken == taken_.end() && listed == listed_.end()) return;
    const bool missing = listed == listed_.end() || (taken != taken_.end() && *taken < *listed);
    const auto [value, node] = missing ? *taken : *listed;
    if (!graph_.find_node(node)) fail_value(graph_.value(value), fmt::format("lists node {} as a consumer, which does not exist", node));
    fail_node(graph_.node(node), missing ? "the node takes a value that does not list it" : "a value lists a node that does not take it",
              value);
  }

  const Graph& graph_;
  const Graph* outer_;
  const CheckOptions& options_;
  std::vector<std::pair<ValueId, NodeId>> taken_, listed_;
};

}  // namespace

void check(const Graph& graph, const CheckOptions& options) { Checker(graph, nullptr, options).run(); }

}  // namespace rh
