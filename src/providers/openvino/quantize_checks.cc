#include <algorithm>
#include <string_view>

#include "providers/openvino/checks.h"

namespace rh::openvino {

namespace {

using kit::Support, kit::refuse;

constexpr int kMostSteps = 12;  ///< of operators that are followed back

const Node* producer_of(const NodeView& node, int i) { return node.has_input(i) ? node.graph().producer(node.node().inputs[i]) : nullptr; }

/// A product with constant weights that are not quantized, to which a constant is added.
bool is_biased_product(const Graph& graph, const Node* node) {
  if (!node || !node->domain.empty()) return false;
  const NodeView view(graph, *node);
  if (node->op_type == "Gemm") return view.constant_input(1) && view.has_input(2);
  if (node->op_type != "Add") return false;
  for (const int side : {0, 1}) {
    const Node* product = producer_of(view, side);
    if (!view.constant_input(1 - side) || !product || product->op_type != "MatMul") continue;
    if (NodeView(graph, *product).constant_input(1)) return true;
  }
  return false;
}

/// What gives the value that a chain of element-wise and layout operators changes, which OpenVINO moves about.
const Node* behind_simple_steps(const Graph& graph, const Node* node) {
  constexpr std::string_view kSteps[] = {"Add",  "Cast",    "Clip",  "Div",     "Flatten", "Identity",  "Mul",      "Neg",
                                         "Relu", "Reshape", "Slice", "Squeeze", "Sub",     "Transpose", "Unsqueeze"};
  for (int step = 0; node && step < kMostSteps && !is_biased_product(graph, node); ++step) {
    if (!node->domain.empty() || std::ranges::find(kSteps, node->op_type) == std::end(kSteps)) return node;
    const NodeView view(graph, *node);
    const Node* first = producer_of(view, 0);
    node = first ? first : producer_of(view, 1);
  }
  return node;
}

bool has_open_sizes(const Graph& graph, ValueId id) {
  const ValueType& type = graph.value(id).type;
  if (!type.is_tensor() || !type.tensor().has_rank()) return true;
  return std::ranges::any_of(*type.tensor().dims, [](const Dim& dim) { return !dim.is_constant(); });
}

/// The constant operand of Add, Sub, Mul or Div; null: both are those of a run, or it is another operator.
const Tensor* constant_operand(const Graph& graph, const Node& node) {
  constexpr std::string_view kArithmetic[] = {"Add", "Div", "Mul", "Sub"};
  if (!node.domain.empty() || std::ranges::find(kArithmetic, node.op_type) == std::end(kArithmetic)) return nullptr;
  const NodeView view(graph, node);
  const Tensor* second = view.constant_input(1);
  return second ? second : view.constant_input(0);
}

bool is_batch_norm(const Node& node) { return node.domain.empty() && node.op_type == "BatchNormalization"; }

const Node* data_producer(const Graph& graph, const Node& node) {
  const NodeView view(graph, node);
  const Node* first = producer_of(view, 0);
  return first ? first : producer_of(view, 1);
}

/// Whether it multiplies by, or adds, a constant for each channel: along the second dimension, or where that is not known, along any.
bool goes_by_channel(const Graph& graph, const Node& node) {
  if (is_batch_norm(node)) return true;
  const Tensor* constant = constant_operand(graph, node);
  const ValueType& type = graph.value(node.outputs[0]).type;
  if (!constant || constant->elements() <= 1) return false;
  if (!type.is_tensor() || !type.tensor().has_rank()) return true;
  const int after = type.tensor().rank() - 2;  // dimensions behind the channels
  const Shape& shape = constant->shape();
  const int axis = static_cast<int>(shape.rank()) - 1 - after;
  return after >= 0 && axis >= 0 && shape[static_cast<size_t>(axis)] > 1;
}

/// Whether a value comes from such a node, by way of layouts, limits, and numbers that are the same for all, and sizes are open.
bool is_scaled_by_channel(const Graph& graph, const Node* node) {
  constexpr std::string_view kSteps[] = {"Cast", "Clip", "Flatten", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"};
  for (int step = 0; node && node->domain.empty() && step < kMostSteps; ++step) {
    if (goes_by_channel(graph, *node)) return has_open_sizes(graph, node->outputs[0]);
    if (!constant_operand(graph, *node) && std::ranges::find(kSteps, node->op_type) == std::end(kSteps)) return false;
    node = data_producer(graph, *node);
  }
  return false;
}

/// Whether a value is scaled by channel and then given another shape, with or without shifts, and sizes are open.
bool is_reshaped_scale(const Graph& graph, const Node& node) {
  constexpr std::string_view kViews[] = {"Flatten", "Reshape", "Squeeze", "Unsqueeze"};
  if (!node.domain.empty() || std::ranges::find(kViews, node.op_type) == std::end(kViews)) return false;
  if (!has_open_sizes(graph, node.inputs[0])) return false;
  const Node* before = producer_of(NodeView(graph, node), 0);
  for (int step = 0; before && step < kMostSteps; ++step) {
    if (is_batch_norm(*before)) return true;
    const Tensor* constant = constant_operand(graph, *before);
    if (!constant) return false;
    if (constant->elements() > 1 && (before->op_type == "Mul" || before->op_type == "Div")) return true;
    before = data_producer(graph, *before);
  }
  return false;
}

/// Whether the graph, or a body within it, has such a node.
bool has_node(const Graph& graph, bool (*is_such)(const Graph&, const Node&)) {
  bool has = false;
  for (NodeId id : graph.nodes()) {
    has = has || is_such(graph, graph.node(id));
    Graph::for_each_subgraph(graph.node(id), [&](const Graph& body) { has = has || has_node(body, is_such); });
  }
  return has;
}

}  // namespace

Support check_quantize(const NodeView& node) {
  const Node* before = producer_of(node, 0);
  if (is_scaled_by_channel(node.graph(), before)) {
    return refuse(RhRefusalCode_UNIT, "OpenVINO joins it with a scale or a shift by channel before it, wrongly where sizes are open");
  }
  if (!is_biased_product(node.graph(), behind_simple_steps(node.graph(), before))) return {};
  return refuse(RhRefusalCode_UNIT, "OpenVINO joins it with a product of float weights and its bias, and then adds the bias wrongly");
}

bool loses_scales(const Graph& graph) {
  const auto is_quantized = [](const Graph&, const Node& node) {
    return node.op_type == "QuantizeLinear" || node.op_type == "DynamicQuantizeLinear" || node.op_type.starts_with("QLinear");
  };
  return has_node(graph, is_quantized) && has_node(graph, is_reshaped_scale);
}

}  // namespace rh::openvino
