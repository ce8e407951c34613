// Pattern: a node that gives its input unchanged to the last bit: Identity, Cast to the same type, Reshape to the same shape, x * 1, x - 0,
//   ...
// Replacement: the input itself.
// Not: x + 0 of floats, which changes -0; where other outputs are used, or a graph output would lose its name.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/tensor/cast.h"
#include "ops/tensor/pad.h"
#include "ops/tensor/slice.h"
#include "ops/tensor/transpose.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

// Whether both shapes have the same sizes for sure. Where only one dimension is not a number, equal numbers of elements decide, whatever
// its name.
bool same_sizes(const TensorType& a, const TensorType& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return false;
  int open = 0;
  for (int i = 0; i < a.rank(); ++i) {
    const Dim &x = (*a.dims)[i], &y = (*b.dims)[i];
    if (x.is_constant() && y.is_constant() && x.value() == y.value() && x.value() > 0) continue;
    if (x.is_constant() && y.is_constant()) return false;
    if (++open > 1) return false;
  }
  return true;
}

// Reshape, Flatten, Squeeze, Unsqueeze: as many elements come out as go in.
bool keeps_shape(const NodeView& node) {
  return same_sizes(node.input_type(0).tensor(), tensor_type(node.graph(), node.node().outputs[0]));
}

// Expand, Tile: more elements may come out.
bool keeps_static_shape(const NodeView& node) {
  const TensorType &x = node.input_type(0).tensor(), &y = tensor_type(node.graph(), node.node().outputs[0]);
  return x.is_static() && y.is_static() && x.shape() == y.shape() && x.shape().elements() > 0;
}

bool keeps_type(const NodeView& node) {
  const DType from = node.input_type(0).tensor().dtype;
  return from != DType::undefined && ops::Cast::read(node).to == from;
}

bool keeps_order(const NodeView& node) {
  const auto perm = ops::Transpose::read(node).perm;
  const TensorType& x = node.input_type(0).tensor();
  if (!perm) return x.has_rank() && x.rank() <= 1;
  for (size_t i = 0; i < perm->size(); ++i) {
    if ((*perm)[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool pads_nothing(const NodeView& node) {
  const auto pads = ops::Pad::read(node).pads.values;
  return pads && std::ranges::all_of(*pads, [](int64_t pad) { return pad == 0; });
}

// As many elements one after the other as there are.
bool takes_all(const NodeView& node) {
  const ops::Slice op = ops::Slice::read(node);
  const bool has_steps = op.steps.values || node.has_input(4);
  const bool ones = !has_steps || (op.steps.values && std::ranges::all_of(*op.steps.values, [](int64_t step) { return step == 1; }));
  return ones && have_same_type(node.graph(), node.node().inputs[0], node.node().outputs[0]);
}

// As far as a shape can reach, as ONNX Runtime wants it.
bool goes_on(const NodeView& node) {
  const auto& ends = ops::Slice::read(node).ends.values;
  return ends && std::ranges::all_of(*ends, [](int64_t end) { return end == std::numeric_limits<int64_t>::max(); }) && takes_all(node);
}

bool is_inference_dropout(const NodeView& node) {
  if (node.opset() < 7) return node.flag("is_test");
  if (node.opset() < 12 || !node.has_input(2)) return true;
  const Tensor* training = node.constant_input(2);
  return training && training->dtype() == DType::boolean && training->elements() == 1 && !*training->data<bool>();
}

bool has_one_input(const NodeView& node) { return node.input_count() == 1; }
bool always(const NodeView&) { return true; }

struct Rule {
  std::string_view op_type;
  bool (*passes_input_on)(const NodeView&);
  bool stays_for_tools = true;  ///< ONNX Runtime leaves such nodes in files of its basic level
};

constexpr Rule kRules[] = {
    {"Identity", always, false},
    {"Dropout", is_inference_dropout, false},
    {"Cast", keeps_type, false},
    {"CastLike", keeps_type, false},
    {"Reshape", keeps_shape},
    {"Flatten", keeps_shape},
    {"Squeeze", keeps_shape},
    {"Unsqueeze", keeps_shape},
    {"Expand", keeps_static_shape, false},
    {"Tile", keeps_static_shape},
    {"Transpose", keeps_order},
    {"Concat", has_one_input},
    {"Pad", pads_nothing},
    {"Slice", takes_all},
    {"Slice", goes_on, false},
    {"Sum", has_one_input},
    {"Mean", has_one_input},
    {"Max", has_one_input},
    {"Min", has_one_input},
};

// Whether every element is the number, the sign of zero included, and broadcasting it against x gives x's shape.
bool is_neutral(const Tensor* constant, const TensorType& x, double number) {
  constexpr int64_t kMostElements = 4096;
  if (!constant || !x.has_rank() || constant->elements() == 0 || constant->elements() > kMostElements) return false;
  if (!is_floating(constant->dtype()) && !is_integer(constant->dtype())) return false;
  const int offset = x.rank() - constant->shape().rank();
  if (offset < 0) return false;
  for (int i = 0; i < constant->shape().rank(); ++i) {
    if (constant->shape()[i] != 1 && !(*x.dims)[offset + i].is_constant(constant->shape()[i])) return false;
  }
  for (int64_t i = 0; i < constant->elements(); ++i) {
    const double element = element_as_double(constant->view(), i);
    if (element != number || (is_floating(constant->dtype()) && std::signbit(element) != std::signbit(number))) return false;
  }
  return true;
}

// The input that comes out unchanged to the last bit: x * 1, 1 * x, x / 1, x - 0, x + -0 (x + 0 turns -0 into 0), and x + 0 of integers.
int neutral_arithmetic(const NodeView& node, bool numbers_alone) {
  if (node.opset() < 7 || node.input_count() != 2) return -1;  // before opset 7 broadcasting was an attribute's affair
  const std::string_view op = node.op_type();
  const bool commutes = op == "Add" || op == "Mul";
  if (!commutes && op != "Sub" && op != "Div") return -1;
  for (int constant : {1, 0}) {
    if (constant == 0 && !commutes) break;
    const TensorType& x = node.input_type(1 - constant).tensor();
    const double number = op == "Mul" || op == "Div" ? 1.0 : op == "Add" && is_floating(x.dtype) ? -0.0 : 0.0;
    const Tensor* given = node.constant_input(constant);
    if (numbers_alone && given && given->elements() != 1) continue;  // the weights of a layer, for tools
    if (is_neutral(given, x, number)) return 1 - constant;
  }
  return -1;
}

int passed_input(const Graph& graph, const Node& node, bool for_tools) {
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() || node.outputs[0] == kNoValue) return -1;
  const NodeView view(graph, node);
  for (const Rule& rule : kRules) {
    if (rule.op_type != node.op_type || (for_tools && rule.stays_for_tools)) continue;
    return view.has_input(0) && rule.passes_input_on(view) ? 0 : -1;
  }
  return neutral_arithmetic(view, for_tools);
}

}  // namespace

Edit eliminate_identities(const Graph& graph, PassContext& context) {
  Rewrite rewrite(graph);
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const int input = passed_input(graph, node, context.for_tools);
    if (input < 0) continue;
    const ValueId value = rewrite.current(node.inputs[static_cast<size_t>(input)]);
    if (!rewrite.can_replace(node.outputs[0], value) || !is_only_output(graph, node)) continue;
    if (context.admit()) rewrite.replace_node(node, value);
  }
  return rewrite.take();
}

}  // namespace rh::passes
