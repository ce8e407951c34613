#include "graph/graph.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

namespace rh {

namespace {

bool has(const std::vector<ValueId>& list, ValueId id) { return std::find(list.begin(), list.end(), id) != list.end(); }

}  // namespace

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
  // A number that an earlier call put there is replaced.
  const size_t end = name.find_last_not_of("0123456789");
  if (end != name.npos && end + 1 < name.size() && end > 1 && name.compare(end - 1, 2, "__") == 0) name.resize(end - 1);
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
      if (node && missing[node->id] > 0) throw Error(ErrorCode::fail, "the graph has a cycle, expected an acyclic graph", node->where());
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

size_t Graph::constant_bytes() const {
  size_t bytes = 0;
  for (ValueId id = 0; id < value_count(); ++id) {
    const Tensor* tensor = value(id).outer == kNoValue ? value(id).constant_tensor() : nullptr;
    bytes += tensor ? tensor->bytes() : 0;
  }
  for (NodeId id : nodes()) {
    for (const Attribute& attribute : node(id).attributes) {
      if (const Tensor* tensor = attribute.get<Tensor>()) bytes += tensor->bytes();
    }
    for_each_subgraph(node(id), [&](const Graph& subgraph) { bytes += subgraph.constant_bytes(); });
  }
  return bytes;
}

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

void Graph::pin(ValueId id) {
  GraphValue& value = values_[id];
  value.is_pinned = value.is_pinned || !value.is_output;
  value.is_output = true;
}

void Graph::unpin_all() {
  for (GraphValue& value : values_) {
    if (std::exchange(value.is_pinned, false)) value.is_output = false;
  }
}

void Graph::set_inputs(std::vector<ValueId> values) {
  for (ValueId id : inputs_) values_[id].is_input = false;
  inputs_ = std::move(values);
  for (ValueId id : inputs_) values_[id].is_input = true;
}

void Graph::set_outputs(std::vector<ValueId> values) {
  for (ValueId id : outputs_) values_[id].is_output = values_[id].is_pinned;
  outputs_ = std::move(values);
  for (ValueId id : outputs_) values_[id].is_output = true, values_[id].is_pinned = false;
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
  const bool gives_nothing = std::ranges::all_of(node.outputs, [](ValueId output) { return output == kNoValue; });
  if (gives_nothing && !node.outputs.empty()) node.outputs[0] = add_value(node.op_type);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    GraphValue& output = values_[node.outputs[i]];
    if (output.producer != kNoNode || output.is_input || !output.initializer.empty() || output.outer != kNoValue) {
      Where where = node.where();
      where.tensor = output.name;
      throw Error(ErrorCode::fail, "value '" + output.name + "' is given more than once, expected one producer for each value",
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
  std::unordered_set<ValueId> seen;
  for_each_subgraph(node, [&](Graph& subgraph) {
    for (const GraphValue& value : subgraph.values_) {
      if (value.outer != kNoValue && seen.insert(value.outer).second) node.implicit_inputs.push_back(value.outer);
    }
  });
  for (ValueId value : node.implicit_inputs) add_consumer(value, id);
  sync_captures(node);
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
  target.external = nullptr;
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
  for (NodeId consumer : value.consumers) {
    if (has(nodes_[consumer]->implicit_inputs, id)) sync_captures(*nodes_[consumer]);
  }
}

void Graph::take_name(ValueId id, const std::string& name) {
  if (values_[id].name == name) return;
  if (const ValueId other = find_value(name); other != kNoValue) rename(other, name + "__inner");
  rename(id, name);
}

void Graph::sync_captures(Node& node) {
  for_each_subgraph(node, [&](Graph& subgraph) {
    for (GraphValue& value : subgraph.values_) {
      if (value.outer != kNoValue) subgraph.take_name(value.id, values_[value.outer].name);
    }
  });
}

void Graph::retarget_captures(ValueId from, ValueId to) {
  const auto standing_for = [&](ValueId outer) {
    const auto at = std::find_if(values_.begin(), values_.end(), [&](const GraphValue& v) { return v.outer == outer; });
    return at == values_.end() ? kNoValue : at->id;
  };
  const ValueId mine = standing_for(from), theirs = standing_for(to);
  if (mine == kNoValue) return;
  if (theirs == kNoValue) {
    values_[mine].outer = to;
    return;
  }
  replace_consumers(mine, theirs);
  if (values_[mine].is_output) {
    std::replace(outputs_.begin(), outputs_.end(), mine, theirs);
    pass_output(mine, theirs);
  }
  values_[mine].outer = kNoValue;
}

void Graph::replace_consumers(ValueId from, ValueId to) {
  const std::vector<NodeId> consumers = std::exchange(values_[from].consumers, {});
  for (NodeId id : consumers) {
    Node& node = *nodes_[id];
    for (ValueId& input : node.inputs) {
      if (input != from) continue;
      input = to;
      add_consumer(to, id);
    }
    if (std::erase(node.implicit_inputs, from) == 0) continue;
    for_each_subgraph(node, [&](Graph& subgraph) { subgraph.retarget_captures(from, to); });
    if (!has(node.implicit_inputs, to)) {
      node.implicit_inputs.push_back(to);
      add_consumer(to, id);
    }
    sync_captures(node);
  }
}

bool Graph::can_stand_in(ValueId from, ValueId to) const {
  const GraphValue& target = values_[to];
  return !values_[from].is_output || (!target.is_output && !target.is_input && target.outer == kNoValue);
}

void Graph::replace_uses(ValueId from, ValueId to) {
  if (from == to) return;
  replace_consumers(from, to);
  if (values_[to].type.is_unknown()) values_[to].type = values_[from].type;
  if (!values_[from].is_output || !can_stand_in(from, to)) return;
  std::replace(outputs_.begin(), outputs_.end(), from, to);
  pass_output(from, to);
  pass_name(from, to);
}

void Graph::pass_output(ValueId from, ValueId to) {
  values_[to].is_pinned = std::exchange(values_[from].is_pinned, false);
  values_[from].is_output = false;
  values_[to].is_output = true;
}

void Graph::pass_name(ValueId from, ValueId to) {
  const std::string name = values_[from].name;
  rename(from, name + "__replaced");
  rename(to, name);
}

void Graph::drop_unused_values() {
  for (GraphValue& value : values_) {
    if (value.producer != kNoNode || !value.consumers.empty() || value.is_input || value.is_output) continue;
    by_name_.erase(value.name);
    const ValueId id = value.id;
    value = GraphValue{};
    value.id = id;
  }
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  copy->name = name;
  copy->opset_imports = opset_imports;
  copy->values_ = values_;
  copy->live_nodes_ = live_nodes_;
  copy->inputs_ = inputs_;
  copy->outputs_ = outputs_;
  copy->by_name_ = by_name_;
  for (const auto& node : nodes_) {
    copy->nodes_.push_back(node ? std::make_unique<Node>(*node) : nullptr);
    if (!node) continue;
    for (Attribute& attribute : copy->nodes_.back()->attributes) {
      if (auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) *one = (*one)->clone();
      if (auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
        for (auto& graph : *many) graph = graph->clone();
      }
    }
  }
  return copy;
}

void Graph::remap_captures(std::span<const ValueId> outer_ids) {
  for (GraphValue& value : values_) {
    if (value.outer != kNoValue) value.outer = outer_ids[value.outer];
  }
}

}  // namespace rh
