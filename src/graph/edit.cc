#include "graph/edit.h"

#include <algorithm>

#include "base/error.h"

namespace rh {

ValueId Edit::add_value(std::string hint, ValueType type) {
  values_.push_back({std::move(hint), std::move(type), {}});
  return next_value_++;
}

ValueId Edit::add_constant(std::string hint, Tensor tensor) {
  values_.push_back({std::move(hint), {}, Value(std::move(tensor))});
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
  for (const auto& [from, to] : replacements_) graph.replace_uses(from, to);
  for (NodeId id : removals_) {
    const Node& node = graph.node(id);
    for (ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      const GraphValue& value = graph.value(output);
      bool used = value.is_output;
      for (NodeId consumer : value.consumers) used |= std::find(removals_.begin(), removals_.end(), consumer) == removals_.end();
      if (used) throw Error(ErrorCode::fail, "a pass removes a node whose output '" + value.name + "' is still used", node.where());
    }
    graph.remove_node(id);
  }
}

}  // namespace rh
