#include "partition/fuse.h"

#include <algorithm>

namespace rh {

namespace {

/// Moves nodes of a graph into a unit.
class Fuser {
 public:
  Fuser(Graph& graph, const Claim& claim) : graph_(graph), claim_(claim), inner_(static_cast<size_t>(graph.value_count()), kNoValue) {
    member_.assign(static_cast<size_t>(graph.node_slots()), false);
    for (NodeId id : claim.nodes) member_[static_cast<size_t>(id)] = true;
    for (NodeId id : graph.topological_order()) {
      if (member_[static_cast<size_t>(id)]) order_.push_back(id);
    }
  }

  std::shared_ptr<Unit> fuse(const std::string& domain, const std::string& name) {
    auto unit = std::make_shared<Unit>();
    unit->body = std::make_unique<Graph>();
    body_ = unit->body.get();
    body_->name = name;
    body_->opset_imports = graph_.opset_imports;
    add_values();
    for (NodeId id : order_) copy_node(graph_.node(id));
    for (ValueId output : outputs_) body_->add_output(inner(output));
    unit->name = name;
    for (ValueId id : inputs_) unit->inputs.push_back(graph_.value(id).name);
    for (ValueId id : outputs_) unit->outputs.push_back(graph_.value(id).name);
    unit->drops_constants = claim_.drop_constants;
    replace(domain, name);
    return unit;
  }

 private:
  ValueId& inner(ValueId id) { return inner_[static_cast<size_t>(id)]; }

  void add_values() {
    for (NodeId id : order_) {
      const Node& node = graph_.node(id);
      for (ValueId input : node.inputs) add_input(input);
      for (ValueId input : node.implicit_inputs) add_input(input);
      for (ValueId output : node.outputs) {
        if (output == kNoValue) continue;
        const GraphValue& value = graph_.value(output);
        inner(output) = body_->add_value(value.name, value.type);
        if (value.is_output || std::ranges::any_of(value.consumers, [&](NodeId c) { return !member_[static_cast<size_t>(c)]; })) {
          outputs_.push_back(output);
        }
      }
    }
  }

  void add_input(ValueId id) {
    if (id == kNoValue || inner(id) != kNoValue) return;
    const GraphValue& value = graph_.value(id);
    if (value.is_constant()) {
      inner(id) = body_->add_initializer(value.name, value.initializer);
      body_->set_type(inner(id), value.type);
      if (value.external) body_->set_external(inner(id), *value.external);
    } else {
      inner(id) = body_->add_input(value.name, value.type);
    }
    if (!value.is_constant() || !claim_.drop_constants) inputs_.push_back(id);
  }

  void copy_node(const Node& node) {
    Node copy;
    copy.name = node.name;
    copy.domain = node.domain;
    copy.op_type = node.op_type;
    copy.opset = node.opset;
    for (ValueId input : node.inputs) copy.inputs.push_back(input == kNoValue ? kNoValue : inner(input));
    for (ValueId output : node.outputs) copy.outputs.push_back(output == kNoValue ? kNoValue : inner(output));
    for (const Attribute& attribute : node.attributes) copy.attributes.push_back(copy_attribute(attribute));
    copy.provenance = node.provenance;
    body_->add_node(std::move(copy));
  }

  Attribute copy_attribute(const Attribute& attribute) {
    const auto moved = [&](const std::shared_ptr<Graph>& subgraph) {
      auto copy = subgraph->clone();
      copy->remap_captures(inner_);
      return copy;
    };
    if (const auto* subgraph = attribute.get<std::shared_ptr<Graph>>()) return {attribute.name, moved(*subgraph)};
    if (const auto* subgraphs = attribute.get<std::vector<std::shared_ptr<Graph>>>()) {
      std::vector<std::shared_ptr<Graph>> copies;
      for (const auto& subgraph : *subgraphs) copies.push_back(moved(subgraph));
      return {attribute.name, std::move(copies)};
    }
    return attribute;
  }

  void replace(const std::string& domain, const std::string& name) {
    Node node;
    node.name = name;
    node.domain = domain;
    node.op_type = name;
    node.opset = 1;
    node.inputs = inputs_;
    node.outputs = outputs_;
    for (NodeId id : order_) add_provenance(graph_.node(id), node);
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) graph_.remove_node(*id);
    graph_.add_node(std::move(node));
  }

  static void add_provenance(const Node& from, Node& to) {
    to.provenance.insert(to.provenance.end(), from.provenance.begin(), from.provenance.end());
    Graph::for_each_subgraph(from, [&](const Graph& subgraph) {
      for (NodeId id : subgraph.nodes()) add_provenance(subgraph.node(id), to);
    });
  }

  Graph& graph_;
  const Claim& claim_;
  Graph* body_ = nullptr;
  std::vector<ValueId> inner_;  // by value of the graph
  std::vector<bool> member_;    // by node
  std::vector<NodeId> order_;
  std::vector<ValueId> inputs_, outputs_;  // of the new node
};

}  // namespace

std::shared_ptr<Unit> fuse(Graph& graph, const Claim& claim, const std::string& domain, const std::string& name) {
  return Fuser(graph, claim).fuse(domain, name);
}

}  // namespace rh
