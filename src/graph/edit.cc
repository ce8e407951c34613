#include "graph/edit.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"

namespace rh {

ValueId Edit::add_value(std::string hint, ValueType type) {
  values_.push_back({std::move(hint), std::move(type), {}});
  return next_value_++;
}

ValueId Edit::add_constant(std::string hint, Value value) {
  values_.push_back({std::move(hint), {}, std::move(value)});
  return next_value_++;
}

void Edit::add_node(Node node, std::vector<NodeId> stands_for) { nodes_.push_back({std::move(node), std::move(stands_for)}); }

void Edit::apply(Graph& graph) && {
  if (&graph != &graph_ || graph.value_count() + static_cast<ValueId>(values_.size()) != next_value_) {
    fail(ErrorCode::fail, "an edit was applied to a graph that it was not made for");
  }
  for (NewValue& value : values_) {
    if (value.constant.empty()) {
      graph.add_value(value.hint, std::move(value.type));
    } else {
      graph.add_initializer(value.hint, std::move(value.constant));
    }
  }
  for (NewNode& added : nodes_) {
    std::vector<std::shared_ptr<const OriginalNode>> originals;
    for (NodeId id : added.stands_for) {
      const auto& more = graph.node(id).provenance;
      originals.insert(originals.end(), more.begin(), more.end());
    }
    const NodeId id = graph.add_node(std::move(added.node));
    graph.add_provenance(id, originals);
  }
  for (const NewInput& change : inputs_) graph.set_input(change.node, change.index, change.value);
  for (auto& [node, attribute] : attributes_) graph.set_attribute(node, std::move(attribute));
  std::unordered_set<ValueId> named;
  const ValueId first_new = next_value_ - static_cast<ValueId>(values_.size());
  for (const auto& [from, to] : replacements_) {
    const bool was_output = graph.value(from).is_output;
    graph.replace_uses(from, to);
    if (to >= first_new && named.insert(to).second && !was_output) graph.pass_name(from, to);
  }
  check_removals(graph);
  for (NodeId id : removals_) graph.remove_node(id);
}

void Edit::check_removals(const Graph& graph) const {
  const std::unordered_set<NodeId> removed(removals_.begin(), removals_.end());
  if (removed.size() != removals_.size()) fail(ErrorCode::fail, "a pass removes a node twice");
  for (NodeId id : removals_) {
    const Node* node = graph.find_node(id);
    if (!node) fail(ErrorCode::fail, "a pass removes node {}, which does not exist", id);
    for (ValueId output : node->outputs) {
      if (output == kNoValue) continue;
      const GraphValue& value = graph.value(output);
      const bool used =
          value.is_output || std::any_of(value.consumers.begin(), value.consumers.end(), [&](NodeId c) { return !removed.contains(c); });
      if (used) throw Error(ErrorCode::fail, "a pass removes a node whose output '" + value.name + "' is still used", node->where());
    }
  }
}

void drop_unused(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    bool has_subgraph = false;
    Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& subgraph) {
      drop_unused(subgraph);
      has_subgraph = true;
    });
    if (has_subgraph) graph.refresh_implicit_inputs(id);
  }
  graph.drop_unused_values();
}

}  // namespace rh
