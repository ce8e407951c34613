// Pattern: operators of float16 and bfloat16 whose meaning does not depend on the type.
// Replacement: the same in float32, with Casts where values come and go in the half type; constant right operands of products stay as they
//   are.
// Not: where none of them multiplies; rows that are taken of constant tables; operators with a type in an attribute, caches or sequences.

#include <algorithm>
#include <array>

#include "ops/math/clip.h"
#include "ops/math/gemm.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "tensor/dispatch.h"

namespace rh::passes {

namespace {

constexpr int64_t kLeastNarrowWeights = 4096;  // elements of a right operand that stay as they are

bool is_narrow(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

/// Operators whose meaning does not depend on the floating type: none with a type in an attribute, caches or sequences.
bool is_generic(const Node& node) {
  static constexpr auto kNames = std::to_array<std::string_view>({"Abs",
                                                                  "Add",
                                                                  "ArgMax",
                                                                  "ArgMin",
                                                                  "AveragePool",
                                                                  "BatchNormalization",
                                                                  "Ceil",
                                                                  "Celu",
                                                                  "Clip",
                                                                  "Concat",
                                                                  "Conv",
                                                                  "ConvTranspose",
                                                                  "Cos",
                                                                  "CumSum",
                                                                  "DepthToSpace",
                                                                  "Div",
                                                                  "Dropout",
                                                                  "Einsum",
                                                                  "Elu",
                                                                  "Equal",
                                                                  "Erf",
                                                                  "Exp",
                                                                  "Expand",
                                                                  "Flatten",
                                                                  "Floor",
                                                                  "GRU",
                                                                  "Gather",
                                                                  "GatherElements",
                                                                  "GatherND",
                                                                  "Gelu",
                                                                  "Gemm",
                                                                  "GlobalAveragePool",
                                                                  "GlobalMaxPool",
                                                                  "Greater",
                                                                  "GreaterOrEqual",
                                                                  "GridSample",
                                                                  "GroupNormalization",
                                                                  "HardSigmoid",
                                                                  "HardSwish",
                                                                  "Identity",
                                                                  "InstanceNormalization",
                                                                  "IsInf",
                                                                  "IsNaN",
                                                                  "LRN",
                                                                  "LSTM",
                                                                  "LayerNormalization",
                                                                  "LeakyRelu",
                                                                  "Less",
                                                                  "LessOrEqual",
                                                                  "Log",
                                                                  "LogSoftmax",
                                                                  "MatMul",
                                                                  "Max",
                                                                  "MaxPool",
                                                                  "Mean",
                                                                  "Min",
                                                                  "Mish",
                                                                  "Mod",
                                                                  "Mul",
                                                                  "Neg",
                                                                  "Not",
                                                                  "PRelu",
                                                                  "Pad",
                                                                  "Pow",
                                                                  "RMSNormalization",
                                                                  "RNN",
                                                                  "Reciprocal",
                                                                  "ReduceL1",
                                                                  "ReduceL2",
                                                                  "ReduceLogSum",
                                                                  "ReduceLogSumExp",
                                                                  "ReduceMax",
                                                                  "ReduceMean",
                                                                  "ReduceMin",
                                                                  "ReduceProd",
                                                                  "ReduceSum",
                                                                  "ReduceSumSquare",
                                                                  "Relu",
                                                                  "Reshape",
                                                                  "Resize",
                                                                  "RotaryEmbedding",
                                                                  "Round",
                                                                  "Selu",
                                                                  "Sigmoid",
                                                                  "Sign",
                                                                  "Sin",
                                                                  "Slice",
                                                                  "Softmax",
                                                                  "Softplus",
                                                                  "Softsign",
                                                                  "SpaceToDepth",
                                                                  "Split",
                                                                  "Sqrt",
                                                                  "Squeeze",
                                                                  "Sub",
                                                                  "Sum",
                                                                  "Swish",
                                                                  "Tanh",
                                                                  "ThresholdedRelu",
                                                                  "Tile",
                                                                  "TopK",
                                                                  "Transpose",
                                                                  "Trilu",
                                                                  "Unsqueeze",
                                                                  "Where"});
  return node.domain.empty() && std::ranges::find(kNames, node.op_type) != kNames.end();
}

bool multiplies(const Node& node) {
  static constexpr auto kNames = std::to_array<std::string_view>({"Conv", "ConvTranspose", "GRU", "Gemm", "LSTM", "MatMul", "RNN"});
  return node.domain.empty() && std::ranges::find(kNames, node.op_type) != kNames.end();
}

class Widener : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    bool pays = false;
    for (NodeId id : order) {
      const Node& node = graph_.node(id);
      if (!touches_narrow(node) || !(is_generic(node) || is_cast(node)) || reads_table(node)) continue;
      region_.insert(id);
      pays |= multiplies(node);
    }
    if (!pays || !context_.admit()) return Edit(graph_);
    for (NodeId id : order) {
      if (region_.contains(id)) widen(graph_.node(id));
    }
    return rewrite_.take();
  }

 private:
  DType dtype(ValueId id) const { return tensor_type(graph_, id).dtype; }
  bool is_narrow_value(ValueId id) const { return id != kNoValue && is_narrow(dtype(id)); }

  bool touches_narrow(const Node& node) const {
    const auto is_one = [&](ValueId id) { return is_narrow_value(id); };
    return std::ranges::any_of(node.inputs, is_one) || std::ranges::any_of(node.outputs, is_one);
  }

  static bool is_cast(const Node& node) { return is_op(node, "Cast"); }

  /// Rows of a constant, which is not to become larger.
  bool reads_table(const Node& node) const {
    return (is_op(node, "Gather") || is_op(node, "GatherElements") || is_op(node, "GatherND")) &&
           graph_.value(node.inputs[0]).is_constant();
  }

  /// What stands for a narrow value, in float.
  ValueId wide(ValueId id) {
    if (const auto found = wide_.find(id); found != wide_.end()) return found->second;
    const GraphValue& value = graph_.value(id);
    ValueId result = kNoValue;
    if (const Tensor* constant = value.constant_tensor()) {
      Tensor floats(DType::float32, constant->shape());
      dispatch_or_throw<FloatingTypes>(constant->dtype(), "convert_half_to_float", [&]<typename T>() {
        std::transform(constant->data<T>(), constant->data<T>() + constant->elements(), floats.data<float>(),
                       [](T x) { return static_cast<float>(x); });
      });
      result = rewrite_.edit().add_constant(value.name, std::move(floats));
    } else {
      result = cast(rewrite_.current(id), value.name, DType::float32, {});
    }
    wide_.emplace(id, result);
    return result;
  }

  ValueId cast(ValueId from, const std::string& name, DType to, std::vector<NodeId> stands_for) {
    Node node;
    node.op_type = "Cast";
    node.opset = kCastOpset;
    node.inputs = {from};
    node.attributes = {{"to", static_cast<int64_t>(to)}};
    node.outputs = {rewrite_.edit().add_value(name)};
    const ValueId output = node.outputs[0];
    rewrite_.edit().add_node(std::move(node), std::move(stands_for));
    return output;
  }

  /// Whether something that is not widened takes the value.
  bool is_used_outside(ValueId id) const {
    const GraphValue& value = graph_.value(id);
    return value.is_output || std::ranges::any_of(value.consumers, [&](NodeId user) { return !region_.contains(user); });
  }

  void widen(const Node& node) {
    if (is_cast(node) && pass_through(node)) return;
    Node made = is_op(node, "MatMul") || is_op(node, "Gemm") ? product(node) : copy(node);
    made.outputs.clear();
    for (ValueId id : node.outputs) {
      if (id == kNoValue) {
        made.outputs.push_back(kNoValue);
        continue;
      }
      const ValueId output = rewrite_.edit().add_value(graph_.value(id).name);
      made.outputs.push_back(output);
      if (is_narrow_value(id)) wide_.emplace(id, output);
    }
    const std::vector<ValueId> outputs = made.outputs;
    rewrite_.edit().add_node(std::move(made), {node.id});
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == kNoValue) continue;
      if (!is_narrow_value(id)) {
        rewrite_.replace(id, outputs[i]);
      } else if (is_used_outside(id)) {
        rewrite_.replace(id, cast(outputs[i], graph_.value(id).name, dtype(id), {node.id}));
      }
    }
    rewrite_.remove(node.id);
  }

  /// A Cast between a narrow type and float changes nothing any more.
  bool pass_through(const Node& node) {
    const ValueId from = node.inputs[0], to = node.outputs[0];
    const bool narrows = is_narrow_value(to) && dtype(from) == DType::float32,
               widens = is_narrow_value(from) && dtype(to) == DType::float32;
    const bool both = is_narrow_value(from) && is_narrow_value(to);
    if (narrows || both) {
      if (is_used_outside(to)) return false;
      wide_.emplace(to, narrows ? rewrite_.current(from) : wide(from));
      rewrite_.remove(node.id);
      return true;
    }
    if (!widens) return false;
    const ValueId value = wide(from);
    if (!rewrite_.can_replace(to, value)) return false;
    rewrite_.replace(to, value);
    rewrite_.remove(node.id);
    return true;
  }

  Node copy(const Node& node) {
    Node made;
    made.name = node.name;
    made.op_type = node.op_type;
    made.opset = node.opset;
    made.attributes = node.attributes;
    if (is_cast(node) && is_narrow_value(node.outputs[0])) made.attributes = {{"to", static_cast<int64_t>(DType::float32)}};
    for (ValueId id : node.inputs) made.inputs.push_back(id == kNoValue ? kNoValue : is_narrow_value(id) ? wide(id) : rewrite_.current(id));
    if (is_op(node, "Clip")) give_bounds(node, made);
    return made;
  }

  /// Those that the narrow type has where none are given.
  void give_bounds(const Node& node, Node& made) {
    const ops::Clip op = ops::Clip::read(NodeView(graph_, node));
    if (!op.bounds_are_inputs) return;
    const double most = op.most(dtype(node.inputs[0]));
    made.inputs.resize(3, kNoValue);
    for (size_t i = 1; i < 3; ++i)
      if (made.inputs[i] == kNoValue)
        made.inputs[i] = rewrite_.edit().add_constant(i == 1 ? "min" : "max", ops::clip_bound(DType::float32, i == 1 ? -most : most));
  }

  /// A product whose constant right operand stays narrow.
  Node product(const Node& node) {
    const NodeView view(graph_, node);
    const Tensor* right = view.constant_input(1);
    if (!right || right->shape().rank() != 2 || right->elements() < kLeastNarrowWeights || is_narrow_value(node.inputs[0]) == false)
      return copy(node);
    Node made;
    made.name = node.name;
    made.op_type = "FusedMatMul";
    made.domain = "roundhouse";
    made.opset = 1;
    if (is_op(node, "Gemm")) {
      const ops::Gemm op = ops::Gemm::read(view);
      const int64_t columns = right->shape()[op.transpose_b ? 0 : 1];
      const Tensor* bias = view.constant_input(2);
      if (op.transpose_a || (view.has_input(2) && (op.beta != 1 || !bias || bias->elements() != columns))) return copy(node);
      if (op.alpha != 1) made.attributes.push_back({"alpha", op.alpha});
      if (op.transpose_b) made.attributes.push_back({"transB", int64_t{1}});
    }
    made.inputs = {wide(node.inputs[0]), rewrite_.current(node.inputs[1])};
    if (view.has_input(2)) made.inputs.push_back(wide(node.inputs[2]));
    return made;
  }

  static constexpr int kCastOpset = 13;

  std::unordered_set<NodeId> region_;
  std::unordered_map<ValueId, ValueId> wide_;
};

}  // namespace

Edit convert_half_to_float(const Graph& graph, PassContext& context) { return Widener(graph, context).run(); }

}  // namespace rh::passes
