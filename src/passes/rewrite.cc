#include "passes/rewrite.h"

#include <algorithm>
#include <array>

namespace rh::passes {

ValueId Rewrite::current(ValueId id) const {
  for (auto at = replaced_.find(id); at != replaced_.end(); at = replaced_.find(id)) id = at->second;
  return id;
}

bool Rewrite::can_replace(ValueId from, ValueId to) const {
  if (!graph_.value(from).is_output) return true;
  return !named_.contains(to) && (is_new(to) || graph_.can_stand_in(from, to));
}

void Rewrite::replace(ValueId from, ValueId to) {
  edit_.replace(from, to);
  replaced_.emplace(from, to);
  if (graph_.value(from).is_output) named_.insert(to);
}

void Rewrite::remove(NodeId id) {
  if (removed_.insert(id).second) edit_.remove_node(id);
}

bool Rewrite::replace_node(const Node& node, ValueId to) {
  if (!is_only_output(graph_, node) || !can_replace(node.outputs[0], to)) return false;
  replace(node.outputs[0], to);
  remove(node.id);
  return true;
}

bool is_op(const Node& node, std::string_view op_type) { return node.op_type == op_type && node.domain.empty(); }

bool has_one_use(const GraphValue& value) { return value.consumers.size() == 1 && !value.is_output; }

bool is_used(const Graph& graph, ValueId id) { return id != kNoValue && (!graph.value(id).consumers.empty() || graph.value(id).is_output); }

bool is_only_output(const Graph& graph, const Node& node) {
  if (node.outputs.empty() || !is_used(graph, node.outputs[0])) return false;
  return std::none_of(node.outputs.begin() + 1, node.outputs.end(), [&](ValueId id) { return is_used(graph, id); });
}

const TensorType& tensor_type(const Graph& graph, ValueId id) {
  static const TensorType nothing;
  return id != kNoValue && graph.value(id).type.is_tensor() ? graph.value(id).type.tensor() : nothing;
}

bool is_random(const Node& node) {
  static constexpr std::array<std::string_view, 6> kRandom = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                                              "RandomUniformLike", "Multinomial",      "Bernoulli"};
  return std::find(kRandom.begin(), kRandom.end(), node.op_type) != kRandom.end() || node.op_type == "Dropout";
}

bool has_subgraph(const Node& node) {
  bool found = false;
  Graph::for_each_subgraph(node, [&](const Graph&) { found = true; });
  return found;
}

}  // namespace rh::passes
