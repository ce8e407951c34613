#include "providers/kit/shapes/fixed_symbols.h"

#include <algorithm>
#include <string_view>

#include "ops/node_view.h"

namespace rh::kit {

namespace {

const SymbolicShape* dims_of(const Graph& graph, ValueId id) {
  if (id == kNoValue) return nullptr;
  const ValueType& type = graph.value(id).type;
  return type.is_tensor() && type.tensor().has_rank() ? &*type.tensor().dims : nullptr;
}

bool is_one_of(std::string_view op, std::string_view list) {
  for (size_t at = list.find(op); at != list.npos; at = list.find(op, at + 1)) {
    const bool begins = at == 0 || list[at - 1] == ' ', ends = at + op.size() == list.size() || list[at + op.size()] == ' ';
    if (begins && ends) return true;
  }
  return false;
}

/// What computes each element of its result from the elements of its operands in that place alone.
constexpr std::string_view kElementwise =
    "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Ceil Celu Clip Cos Cosh Dropout Elu "
    "Equal "
    "Erf Exp Expand Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less LessOrEqual Log Max Mean "
    "Min Mish Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Sum Tan Tanh "
    "ThresholdedRelu Where Xor";
/// What changes the place of elements, or leaves them, without a look at the other ones.
constexpr std::string_view kFree = "CastLike Constant ConstantOfShape DequantizeLinear QuantizeLinear Squeeze Transpose Trilu Unsqueeze";
/// What works on each item of its first axis alone.
constexpr std::string_view kByItem =
    "AveragePool BatchNormalization Conv ConvInteger ConvTranspose DepthToSpace GlobalAveragePool GlobalLpPool GlobalMaxPool "
    "GroupNormalization InstanceNormalization LRN LpPool MaxPool SpaceToDepth";
constexpr std::string_view kByAxis = "ArgMax ArgMin Concat CumSum Hardmax LogSoftmax LpNormalization Softmax Split TopK";
constexpr std::string_view kReductions =
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare";
/// What a shape may go through on its way to the operator that gives a value that shape.
constexpr std::string_view kShapeSteps = "Cast Concat Gather Identity Slice Squeeze Unsqueeze";

class FixedSymbols {
 public:
  explicit FixedSymbols(const Graph& graph) : graph_(graph) {
    for (NodeId id : graph.nodes()) add(NodeView(graph, graph.node(id)));
  }
  Symbols take() { return std::move(names_); }

 private:
  const SymbolicShape* dims(ValueId id) const { return dims_of(graph_, id); }
  const SymbolicShape* input(const NodeView& node, int i) const {
    return node.has_input(i) ? dims(node.node().inputs[static_cast<size_t>(i)]) : nullptr;
  }
  const SymbolicShape* output(const NodeView& node) const { return node.has_output(0) ? dims(node.node().outputs[0]) : nullptr; }

  void fix(const Dim& dim) {
    dim.for_each_symbol([&](std::string_view name) { names_.emplace(name); });
  }
  void fix(const SymbolicShape* shape, size_t first = 0) {
    for (size_t i = first; shape && i < shape->size(); ++i) fix((*shape)[i]);
  }
  void fix_axis(const SymbolicShape* shape, int64_t axis) {
    if (!shape) return;
    const auto rank = static_cast<int64_t>(shape->size());
    if (axis < -rank || axis >= rank) return fix(shape);
    fix((*shape)[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
  }
  void fix_all(const Node& node) {
    for (const auto* values : {&node.inputs, &node.outputs, &node.implicit_inputs}) {
      for (ValueId id : *values) fix(dims(id));
    }
  }

  /// Each operand's axes, counted from the last, have the result's sizes, or 1.
  void meet(const SymbolicShape* operand, const SymbolicShape* result, size_t but_last = 0) {
    if (!operand || !result) return;
    for (size_t i = 1 + but_last; i <= std::min(operand->size(), result->size()); ++i) {
      const Dim &a = (*operand)[operand->size() - i], &b = (*result)[result->size() - i];
      if (a == b || a.is_constant(1)) continue;
      fix(a);
      fix(b);
    }
  }

  void add(const NodeView& node) {
    const std::string_view op = node.op_type();
    if (!node.domain().empty()) return fix_all(node.node());
    if (op == "Div" || op == "Mod") return add_division(node);
    if (is_one_of(op, kElementwise)) return add_elementwise(node);
    if (is_one_of(op, kFree)) return;
    if (is_one_of(op, kByItem)) return fix_items(node);
    if (is_one_of(op, kByAxis)) return add_by_axis(node);
    if (is_one_of(op, kReductions)) return add_reduction(node);
    if (op == "MatMul") return add_product(node);
    if (op == "Gemm") return add_gemm(node);
    if (op == "Gather") return add_gather(node);
    if (op == "Reshape" || op == "Flatten") return add_reshape(node);
    if (op == "Slice") return add_slice(node);
    if (op == "LayerNormalization") return add_layer_norm(node);
    if (op == "Shape") return add_shape(node);
    fix_all(node.node());
  }

  void add_elementwise(const NodeView& node) {
    const bool is_expand = node.op_type() == "Expand";  // its second operand is a shape
    for (int i = 0; i < (is_expand ? 1 : node.input_count()); ++i) meet(input(node, i), output(node));
  }

  // Of integers the zeros of a padded divisor would end the process.
  void add_division(const NodeView& node) {
    const bool is_float = node.has_input(1) && node.input_type(1).is_tensor() && is_floating(node.input_type(1).tensor().dtype);
    if (!is_float && !node.constant_input(1)) return fix_all(node.node());
    add_elementwise(node);
  }

  void fix_items(const NodeView& node) {
    fix(input(node, 0), 1);
    for (int i = 1; i < node.input_count(); ++i) fix(input(node, i));
    fix(output(node), 1);
  }

  void add_by_axis(const NodeView& node) {
    const std::string_view op = node.op_type();
    const bool was_flat = (op == "Softmax" || op == "LogSoftmax" || op == "Hardmax") && node.opset() < 13;
    if (was_flat || op == "CumSum") return fix_all(node.node());
    const int64_t axis = node.int_or("axis", op == "Split" || op == "ArgMax" || op == "ArgMin" ? 0 : -1);
    for (int i = 0; i < node.input_count(); ++i) {
      if (i > 0 && op != "Concat") continue;
      fix_axis(input(node, i), axis);
    }
    for (ValueId id : node.node().outputs) {
      if (op != "ArgMax" && op != "ArgMin") fix_axis(dims(id), axis);
    }
    if (op != "Concat") return;
    const SymbolicShape* result = output(node);
    for (int i = 0; i < node.input_count(); ++i) meet(input(node, i), result);
  }

  void add_reduction(const NodeView& node) {
    std::vector<int64_t> axes = node.ints_or("axes");
    if (node.has_input(1)) {
      const Tensor* given = node.constant_input(1);
      if (!given || given->dtype() != DType::int64) return fix_all(node.node());
      axes.assign(given->span<int64_t>().begin(), given->span<int64_t>().end());
    }
    if (axes.empty()) return fix_all(node.node());
    for (int64_t axis : axes) fix_axis(input(node, 0), axis);
  }

  void add_product(const NodeView& node) {
    const SymbolicShape *a = input(node, 0), *b = input(node, 1);
    if (!a || !b || a->size() < 2 || b->size() < 2) return fix_all(node.node());
    fix(a->back());
    fix((*b)[b->size() - 2]);
    for (const SymbolicShape* operand : {a, b}) meet(operand, output(node), 2);
  }

  void add_gemm(const NodeView& node) {
    fix_axis(input(node, 0), node.flag("transA") ? 0 : 1);
    fix_axis(input(node, 1), node.flag("transB") ? 1 : 0);
    meet(input(node, 2), output(node));
  }

  // Indices that are given are padded with zeros, which are in range; those that are computed may be anything.
  void add_gather(const NodeView& node) {
    fix_axis(input(node, 0), node.int_or("axis", 0));
    if (graph_.producer(node.node().inputs[1])) fix(input(node, 1));
  }

  /// A size that stands alone before and after, with as many elements before it, keeps its place.
  void add_reshape(const NodeView& node) {
    const SymbolicShape *before = input(node, 0), *after = output(node);
    if (!before || !after) return fix_all(node.node());
    for (size_t i = 0; i < before->size(); ++i) {
      const Dim& dim = (*before)[i];
      if (dim.is_constant()) continue;
      bool keeps = false;
      for (size_t j = 0; !keeps && j < after->size(); ++j) {
        keeps = (*after)[j] == dim && product(*before, 0, i) == product(*after, 0, j);
      }
      if (!keeps) fix(dim);
    }
  }

  void add_slice(const NodeView& node) {
    const Tensor* axes = node.constant_input(3);
    if (node.has_input(3) && (!axes || axes->dtype() != DType::int64)) return fix_all(node.node());
    if (!axes) return fix_all(node.node());
    for (int64_t axis : axes->span<int64_t>()) {
      fix_axis(input(node, 0), axis);
      fix_axis(output(node), axis);
    }
  }

  void add_layer_norm(const NodeView& node) {
    const SymbolicShape* x = input(node, 0);
    if (!x) return;
    const auto rank = static_cast<int64_t>(x->size());
    const int64_t axis = node.int_or("axis", -1);
    fix(x, static_cast<size_t>(std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank)));
  }

  // A shape that only says how others are laid out is padded as they are; elsewhere it is a number that padding would change.
  void add_shape(const NodeView& node) {
    if (!is_layout_alone(node.node().outputs[0])) fix(input(node, 0));
  }
  bool is_layout_alone(ValueId shape) const {
    const GraphValue& value = graph_.value(shape);
    if (value.is_output) return false;
    return std::ranges::all_of(value.consumers, [&](NodeId id) {
      const Node& consumer = graph_.node(id);
      if (!consumer.domain.empty()) return false;
      const auto at = std::ranges::find(consumer.inputs, shape) - consumer.inputs.begin();
      if (consumer.op_type == "Reshape" || consumer.op_type == "Expand") return at == 1;
      if (consumer.op_type == "ConstantOfShape") return at == 0;
      const bool is_step = is_one_of(consumer.op_type, kShapeSteps) && (at == 0 || consumer.op_type == "Concat");
      return is_step && is_layout_alone(consumer.outputs[0]);
    });
  }

  const Graph& graph_;
  Symbols names_;
};

}  // namespace

namespace {

/// The inputs that an output may continue: those that its Concat takes as they are, else all.
std::vector<ValueId> sources_of(const Graph& graph, ValueId output) {
  std::vector<ValueId> direct;
  const Node* producer = graph.producer(output);
  for (size_t i = 0; producer && producer->op_type == "Concat" && i < producer->inputs.size(); ++i) {
    if (graph.value(producer->inputs[i]).is_input) direct.push_back(producer->inputs[i]);
  }
  return direct.empty() ? graph.inputs() : direct;
}

/// A size that has to be as large as one that grows, as that of a mask and that of the scores that it is added to, grows with it. Whether
/// there are more such.
bool add_met(const Graph& graph, Symbols& names) {
  const size_t before = names.size();
  const auto grows = [&](const Dim& dim) {
    bool has = false;
    dim.for_each_symbol([&](std::string_view name) { has |= names.contains(name); });
    return has;
  };
  const auto meet = [&](const SymbolicShape* a, const SymbolicShape* b) {
    for (size_t i = 1; a && b && i <= std::min(a->size(), b->size()); ++i) {
      const Dim &x = (*a)[a->size() - i], &y = (*b)[b->size() - i];
      if (grows(x) && !y.symbol_name().empty()) names.emplace(y.symbol_name());
      if (grows(y) && !x.symbol_name().empty()) names.emplace(x.symbol_name());
    }
  };
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.domain.empty() || !is_one_of(node.op_type, kElementwise) || node.op_type == "Expand") continue;
    for (size_t i = 1; i < node.inputs.size(); ++i) meet(dims_of(graph, node.inputs[0]), dims_of(graph, node.inputs[i]));
    for (ValueId input : node.inputs) meet(dims_of(graph, input), dims_of(graph, node.outputs[0]));
  }
  return names.size() > before;
}

}  // namespace

Symbols fixed_symbols(const Graph& graph) { return FixedSymbols(graph).take(); }

Symbols growing_symbols(const Graph& graph) {
  Symbols names;
  const auto grows = [&](const SymbolicShape& before, const SymbolicShape& after) {
    if (before.size() != after.size()) return;
    std::string_view name;
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i] == after[i]) continue;
      const std::string_view symbol = before[i].symbol_name();
      const Dim added = after[i] - before[i];
      bool is_more = !symbol.empty() && !added.is_unknown() && name.empty();
      added.for_each_symbol([&](std::string_view other) { is_more &= other != symbol; });
      if (!is_more) return;
      name = symbol;
    }
    if (!name.empty()) names.emplace(name);
  };
  for (ValueId output : graph.outputs()) {
    const SymbolicShape* after = dims_of(graph, output);
    for (ValueId given : sources_of(graph, output)) {
      const SymbolicShape* before = dims_of(graph, given);
      if (before && after) grows(*before, *after);
    }
  }
  while (!names.empty() && add_met(graph, names)) {
  }
  return names;
}

}  // namespace rh::kit
