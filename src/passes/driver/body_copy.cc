#include "passes/driver/body_copy.h"

#include <memory>
#include <utility>
#include <variant>

namespace rh::passes {

void BodyCopy::add_nodes() {
  for (NodeId id : body_.topological_order()) add(body_.node(id));
}

ValueId BodyCopy::outside(ValueId id) {
  if (id == kNoValue) return id;
  ValueId& result = ids_[static_cast<size_t>(id)];
  if (result != kNoValue) return result;
  const GraphValue& value = body_.value(id);
  if (value.outer != kNoValue) return result = value.outer;
  if (!value.initializer.empty()) return result = rewrite_.edit().add_constant(value.name, value.initializer);
  return result = rewrite_.edit().add_value(value.name, value.type);
}

void BodyCopy::add(const Node& inner) {
  Node copy = inner;
  for (ValueId& input : copy.inputs) input = outside(input);
  for (ValueId& output : copy.outputs) output = outside(output);
  for (ValueId input : inner.implicit_inputs) outside(input);
  const auto moved = [&](const std::shared_ptr<Graph>& subgraph) {
    auto clone = subgraph->clone();
    clone->remap_captures(ids_);
    return clone;
  };
  for (Attribute& attribute : copy.attributes) {
    if (auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) *one = moved(*one);
    if (auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
      for (auto& subgraph : *many) subgraph = moved(subgraph);
    }
  }
  rewrite_.edit().add_node(std::move(copy), {});
}

void give_output(Rewrite& rewrite, const Graph& graph, const Node& node, ValueId output, ValueId value) {
  if (output == kNoValue) return;
  if (!rewrite.can_replace(output, value)) {
    Node identity;
    identity.op_type = "Identity";
    identity.inputs = {value};
    identity.outputs = {rewrite.edit().add_value(graph.value(output).name, graph.value(output).type)};
    value = identity.outputs[0];
    rewrite.edit().add_node(std::move(identity), {node.id});
  }
  rewrite.replace(output, value);
}

}  // namespace rh::passes
