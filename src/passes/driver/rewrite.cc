#include "passes/driver/rewrite.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "ops/tensor/transpose.h"
#include "tensor/dispatch.h"

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

void Rewrite::replace_nodes(Node made, const Node& last, const std::vector<NodeId>& nodes, const std::vector<NodeId>& kept) {
  const GraphValue& result = graph_.value(last.outputs[0]);
  const ValueId output = edit_.add_value(result.name, result.type);
  made.outputs = {output};
  edit_.add_node(std::move(made), nodes);
  replace_node(last, output);
  for (const NodeId id : nodes) {
    if (std::find(kept.begin(), kept.end(), id) == kept.end()) remove(id);
  }
}

void Rewrite::replace_nodes(Node made, std::span<const ValueId> values, const std::vector<NodeId>& nodes) {
  for (const ValueId id : values) made.outputs.push_back(edit_.add_value(graph_.value(id).name, graph_.value(id).type));
  const std::vector<ValueId> outputs = made.outputs;
  edit_.add_node(std::move(made), nodes);
  for (size_t i = 0; i < outputs.size(); ++i) replace(values[i], outputs[i]);
  for (const NodeId id : nodes) remove(id);
}

ValueId Rewrite::add_part(Node part, const Node& whole) {
  const ValueId output = edit_.add_value(graph_.value(whole.outputs[0]).name);
  part.outputs = {output};
  edit_.add_node(std::move(part), {whole.id});
  return output;
}

Node part_of(const Node& whole, bool is_main, std::string_view op_type, std::vector<ValueId> inputs, std::vector<Attribute> attributes) {
  Node part;
  part.name = is_main || whole.name.empty() ? whole.name : whole.name + "_" + std::string(op_type);
  part.op_type = op_type;
  part.opset = whole.opset;
  part.inputs = std::move(inputs);
  part.attributes = std::move(attributes);
  return part;
}

bool is_op(const Node& node, std::string_view op_type) { return node.op_type == op_type && node.domain.empty(); }
bool is_own(const Node& node, std::string_view op_type) { return node.op_type == op_type && node.domain == "roundhouse"; }
bool is_fused_conv(const Node& node) {
  return node.op_type == "FusedConv" && (node.domain == "com.microsoft" || node.domain == "roundhouse");
}

bool scales_elements(const Node& node) {
  static constexpr auto kNames = std::to_array<std::string_view>({"Add", "Cast", "Div", "Mul", "Sub"});
  return node.domain.empty() && std::ranges::find(kNames, node.op_type) != kNames.end();
}

bool is_view(const Node& node) {
  static constexpr std::array<std::string_view, 4> kViews = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"};
  return node.domain.empty() && std::find(kViews.begin(), kViews.end(), node.op_type) != kViews.end();
}

bool has_one_use(const GraphValue& value) { return value.consumers.size() == 1 && !value.is_output; }

bool is_used(const Graph& graph, ValueId id) { return id != kNoValue && (!graph.value(id).consumers.empty() || graph.value(id).is_output); }

bool is_only_output(const Graph& graph, const Node& node) {
  if (node.outputs.empty() || !is_used(graph, node.outputs[0])) return false;
  return std::none_of(node.outputs.begin() + 1, node.outputs.end(), [&](ValueId id) { return is_used(graph, id); });
}

const Node* only_user(const Graph& graph, ValueId id) {
  return id != kNoValue && has_one_use(graph.value(id)) ? &graph.node(graph.value(id).consumers[0]) : nullptr;
}

const Node* only_user(const Graph& graph, const Node& node) {
  return is_only_output(graph, node) ? only_user(graph, node.outputs[0]) : nullptr;
}

bool is_closed(const Graph& graph, const std::vector<NodeId>& nodes, const Node& root) {
  const auto is_inside = [&](NodeId id) { return std::find(nodes.begin(), nodes.end(), id) != nodes.end(); };
  return is_only_output(graph, root) && std::all_of(nodes.begin(), nodes.end(), [&](NodeId id) {
           const Node& node = graph.node(id);
           if (id == root.id) return true;
           if (node.outputs.size() != 1 || graph.value(node.outputs[0]).is_output) return false;
           const auto& consumers = graph.value(node.outputs[0]).consumers;
           return std::all_of(consumers.begin(), consumers.end(), is_inside);
         });
}

bool have_same_type(const Graph& graph, ValueId a, ValueId b) {
  const TensorType &x = tensor_type(graph, a), &y = tensor_type(graph, b);
  return x.dtype != DType::undefined && x.dtype == y.dtype && x.has_rank() && y.has_rank() && *x.dims == *y.dims;
}

bool is_sum(const Graph& graph, const Node& node, ValueId value) {
  const bool adds = (is_op(node, "Add") && node.opset >= kBroadcastOpset) || is_op(node, "Sum");
  return adds && node.inputs.size() == 2 && is_only_output(graph, node) && have_same_type(graph, value, other_input(node, value));
}

ValueId other_input(const Node& node, ValueId one) { return node.inputs[0] == one ? node.inputs[1] : node.inputs[0]; }

std::optional<double> constant_number(const Graph& graph, ValueId id) {
  const Tensor* tensor = id == kNoValue ? nullptr : graph.value(id).constant_tensor();
  if (!tensor || tensor->elements() != 1 || !NumericTypes::set.contains(tensor->dtype())) return std::nullopt;
  return element_as_double(tensor->view(), 0);
}

const TensorType& tensor_type(const Graph& graph, ValueId id) {
  return id != kNoValue && graph.value(id).type.is_tensor() ? graph.value(id).type.tensor() : kUnknownTensorType;
}

std::optional<std::vector<int64_t>> permutation(const NodeView& transpose) {
  auto perm = ops::Transpose::read(transpose).perm;
  if (perm) return perm;
  const TensorType& x = transpose.input_type(0).tensor();
  if (!x.has_rank()) return std::nullopt;
  perm.emplace(static_cast<size_t>(x.rank()));
  std::iota(perm->rbegin(), perm->rend(), int64_t{0});
  return perm;
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
