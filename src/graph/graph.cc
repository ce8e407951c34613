#include "graph/graph.h"

#include <algorithm>
#include <queue>

namespace rh {

const Attribute* Node::attribute(std::string_view name) const {
  const auto at = std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == name; });
  return at == attributes.end() ? nullptr : &*at;
}

std::string Node::op_text() const { return (domain.empty() ? op_type : domain + "::" + op_type) + "(" + std::to_string(opset) + ")"; }

std::string Node::display_name() const { return name.empty() ? "#" + std::to_string(id) : name; }

ValueId Graph::find_value(std::string_view name) const {
  const auto at = by_name_.find(std::string(name));
  return at == by_name_.end() ? kNoValue : at->second;
}

std::string Graph::fresh_name(std::string_view hint) const {
  std::string name(hint.empty() ? "value" : hint);
  if (!by_name_.contains(name)) return name;
  name += "__";
  const size_t length = name.size();
  do {
    name.resize(length);
    name += std::to_string(next_fresh_++);
  } while (by_name_.contains(name));
  return name;
}

std::vector<NodeId> Graph::nodes() const {
  std::vector<NodeId> ids;
  ids.reserve(live_nodes_);
  for (const auto& node : nodes_) {
    if (node) ids.push_back(node->id);
  }
  return ids;
}

std::vector<NodeId> Graph::topological_order() const {
  std::vector<int32_t> missing(nodes_.size(), 0);
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (const auto& node : nodes_) {
    if (!node) continue;
    const auto count = [&](const std::vector<ValueId>& ids) {
      for (ValueId id : ids) missing[node->id] += id != kNoValue && values_[id].producer != kNoNode;
    };
    count(node->inputs);
    count(node->implicit_inputs);
    if (missing[node->id] == 0) ready.push(node->id);
  }
  std::vector<NodeId> order;
  order.reserve(live_nodes_);
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    for (ValueId output : nodes_[id]->outputs) {
      if (output == kNoValue) continue;
      for (NodeId consumer : values_[output].consumers) {
        if (--missing[consumer] == 0) ready.push(consumer);
      }
    }
  }
  if (order.size() != live_nodes_) {
    for (const auto& node : nodes_) {
      if (node && missing[node->id] > 0)
        throw Error(ErrorCode::invalid_graph, "the graph has a cycle, expected an acyclic graph", node->where());
    }
  }
  return order;
}

namespace {

template <typename NodeType, typename Visit>
void visit_subgraphs(NodeType& node, Visit& visit) {
  for (auto& attribute : node.attributes) {
    if (auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) visit(**one);
    if (auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
      for (auto& graph : *many) visit(*graph);
    }
  }
}

}  // namespace

void Graph::for_each_subgraph(const Node& node, FunctionRef<void(const Graph&)> visit) { visit_subgraphs(node, visit); }
void Graph::for_each_subgraph(Node& node, FunctionRef<void(Graph&)> visit) { visit_subgraphs(node, visit); }

ValueId Graph::add_value(std::string_view name, ValueType type) {
  const ValueId id = value_count();
  GraphValue& value = values_.emplace_back();
  value.id = id;
  value.name = fresh_name(name);
  value.type = std::move(type);
  by_name_.emplace(value.name, id);
  return id;
}

ValueId Graph::add_input(std::string_view name, ValueType type) {
  const ValueId id = add_value(name, std::move(type));
  values_[id].is_input = true;
  inputs_.push_back(id);
  return id;
}

ValueId Graph::add_initializer(std::string_view name, Value value) {
  const ValueId id = add_value(name);
  set_initializer(id, std::move(value));
  return id;
}

ValueId Graph::add_outer(std::string_view name, ValueId outer_id, ValueType type) {
  const ValueId id = add_value(name, std::move(type));
  values_[id].outer = outer_id;
  return id;
}

void Graph::add_output(ValueId id) {
  outputs_.push_back(id);
  values_[id].is_output = true;
}

void Graph::set_output(size_t index, ValueId value) {
  const ValueId old = outputs_[index];
  outputs_[index] = value;
  values_[old].is_output = std::find(outputs_.begin(), outputs_.end(), old) != outputs_.end();
  values_[value].is_output = true;
}

void Graph::drop_input(ValueId id) {
  std::erase(inputs_, id);
  values_[id].is_input = false;
}

void Graph::make_input(ValueId id) {
  inputs_.push_back(id);
  values_[id].is_input = true;
}

void Graph::add_consumer(ValueId value, NodeId node) {
  if (value != kNoValue) values_[value].consumers.push_back(node);
}

void Graph::remove_consumer(ValueId value, NodeId node) {
  if (value == kNoValue) return;
  auto& consumers = values_[value].consumers;
  const auto at = std::find(consumers.begin(), consumers.end(), node);
  if (at != consumers.end()) consumers.erase(at);
}

NodeId Graph::add_node(Node node) {
  const NodeId id = node_slots();
  node.id = id;
  if (node.opset == 0) {
    const auto import = opset_imports.find(node.domain);
    node.opset = import == opset_imports.end() ? 1 : import->second;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    GraphValue& output = values_[node.outputs[i]];
    if (output.producer != kNoNode || output.is_input || !output.initializer.empty() || output.outer != kNoValue) {
      Where where = node.where();
      where.tensor = output.name;
      throw Error(ErrorCode::invalid_graph, "value '" + output.name + "' is given more than once, expected one producer for each value",
                  std::move(where));
    }
    output.producer = id;
    output.output_index = static_cast<int>(i);
  }
  for (ValueId input : node.inputs) add_consumer(input, id);
  node.implicit_inputs.clear();
  nodes_.push_back(std::make_unique<Node>(std::move(node)));
  ++live_nodes_;
  refresh_implicit_inputs(id);
  return id;
}

void Graph::refresh_implicit_inputs(NodeId id) {
  Node& node = *nodes_[id];
  for (ValueId value : node.implicit_inputs) remove_consumer(value, id);
  node.implicit_inputs.clear();
  for_each_subgraph(node, [&](Graph& subgraph) {
    for (const GraphValue& value : subgraph.values_) {
      if (value.outer == kNoValue) continue;
      if (std::find(node.implicit_inputs.begin(), node.implicit_inputs.end(), value.outer) == node.implicit_inputs.end()) {
        node.implicit_inputs.push_back(value.outer);
      }
    }
  });
  for (ValueId value : node.implicit_inputs) add_consumer(value, id);
}

void Graph::remove_node(NodeId id) {
  Node& node = *nodes_[id];
  for (ValueId input : node.inputs) remove_consumer(input, id);
  for (ValueId input : node.implicit_inputs) remove_consumer(input, id);
  for (ValueId output : node.outputs) {
    if (output != kNoValue && values_[output].producer == id) values_[output].producer = kNoNode;
  }
  nodes_[id].reset();
  --live_nodes_;
}

void Graph::set_initializer(ValueId id, Value value) {
  GraphValue& target = values_[id];
  if (value.is_tensor()) {
    SymbolicShape dims(value.tensor().shape().begin(), value.tensor().shape().end());
    target.type = ValueType::tensor(value.tensor().dtype(), std::move(dims));
  } else if (value.is_sparse()) {
    const SparseTensor& sparse = value.sparse();
    target.type = ValueType::sparse({sparse.dtype, SymbolicShape(sparse.dense_shape.begin(), sparse.dense_shape.end())});
  }
  target.initializer = std::move(value);
}

void Graph::set_input(NodeId id, size_t index, ValueId value) {
  Node& node = *nodes_[id];
  remove_consumer(node.inputs[index], id);
  node.inputs[index] = value;
  add_consumer(value, id);
}

void Graph::set_attribute(NodeId id, Attribute attribute) {
  Node& node = *nodes_[id];
  const auto at =
      std::find_if(node.attributes.begin(), node.attributes.end(), [&](const Attribute& a) { return a.name == attribute.name; });
  if (at == node.attributes.end()) {
    node.attributes.push_back(std::move(attribute));
  } else {
    *at = std::move(attribute);
  }
}

void Graph::add_provenance(NodeId id, std::span<const std::shared_ptr<const OriginalNode>> originals) {
  auto& list = nodes_[id]->provenance;
  for (const auto& original : originals) {
    if (std::find(list.begin(), list.end(), original) == list.end()) list.push_back(original);
  }
}

void Graph::rename(ValueId id, std::string_view name) {
  GraphValue& value = values_[id];
  by_name_.erase(value.name);
  value.name = fresh_name(name);
  by_name_.emplace(value.name, id);
}

void Graph::replace_uses(ValueId from, ValueId to) {
  if (from == to) return;
  const std::vector<NodeId> consumers = values_[from].consumers;
  values_[from].consumers.clear();
  for (NodeId id : consumers) add_consumer(to, id);
  for (NodeId id : consumers) {
    Node& node = *nodes_[id];
    std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    if (std::find(node.implicit_inputs.begin(), node.implicit_inputs.end(), from) == node.implicit_inputs.end()) continue;
    for_each_subgraph(node, [&](Graph& subgraph) {
      for (GraphValue& value : subgraph.values_) {
        if (value.outer == from) value.outer = to;
      }
    });
    refresh_implicit_inputs(id);
  }
  if (!values_[from].is_output) return;
  std::replace(outputs_.begin(), outputs_.end(), from, to);
  values_[from].is_output = false;
  const std::string output_name = values_[from].name;
  const bool can_take_name = !values_[to].is_output && !values_[to].is_input && values_[to].outer == kNoValue;
  values_[to].is_output = true;
  if (can_take_name) {
    rename(from, output_name + "__replaced");
    rename(to, output_name);
  }
}

}  // namespace rh
