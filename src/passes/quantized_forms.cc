#include <cmath>
#include <optional>

#include "passes/pass.h"
#include "passes/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kQuantizedOpset = 10;  // of ai.onnx, that brought QLinearConv

/// What DequantizeLinear is given, or QuantizeLinear gives: 8 bits or int32, its constant scale and zero point.
struct Quantized {
  const Node* node = nullptr;
  ValueId value = kNoValue;
  DType dtype = DType::undefined;
  const Tensor* scale = nullptr;
  const Tensor* zero = nullptr;  ///< null: 0

  bool is_byte() const { return dtype == DType::int8 || dtype == DType::uint8; }
  bool is_per_tensor() const { return scale->elements() == 1; }
};

std::optional<Quantized> quantization(const Graph& graph, const Node& node, DType dtype, ValueId value) {
  const NodeView view(graph, node);
  Quantized q{.node = &node, .value = value, .dtype = dtype, .scale = view.constant_input(1), .zero = view.constant_input(2)};
  if (!q.scale || q.scale->dtype() != DType::float32 || q.scale->shape().rank() > 1 || (view.has_input(2) && !q.zero)) return std::nullopt;
  return q;
}

std::optional<Quantized> dequantized(const Graph& graph, ValueId id) {
  const Node* node = id == kNoValue ? nullptr : graph.producer(id);
  if (!node || !is_op(*node, "DequantizeLinear")) return std::nullopt;
  return quantization(graph, *node, tensor_type(graph, node->inputs[0]).dtype, node->inputs[0]);
}

/// The quantisation that alone takes the node's result.
std::optional<Quantized> quantized_result(const Graph& graph, const Node& node) {
  if (!is_only_output(graph, node)) return std::nullopt;
  const GraphValue& value = graph.value(node.outputs[0]);
  if (!has_one_use(value)) return std::nullopt;
  const Node& user = graph.node(value.consumers[0]);
  if (!is_op(user, "QuantizeLinear") || user.inputs[0] != node.outputs[0]) return std::nullopt;
  const auto result = quantization(graph, user, tensor_type(graph, user.outputs[0]).dtype, user.outputs[0]);
  return result && result->is_byte() && result->is_per_tensor() ? result : std::nullopt;
}

class Fuser {
 public:
  Fuser(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (node.opset < kQuantizedOpset) continue;
      if (is_op(node, "Conv")) fuse_conv(node);
      if (is_op(node, "MatMul")) fuse_matmul(node);
      if (is_op(node, "Add") || is_op(node, "Mul")) fuse_binary(node);
    }
    return rewrite_.take();
  }

 private:
  std::optional<Quantized> byte_operand(const Node& node, size_t input) const {
    const auto q = node.inputs.size() > input ? dequantized(graph_, node.inputs[input]) : std::nullopt;
    return q && q->is_byte() ? q : std::nullopt;
  }

  void fuse_conv(const Node& node) {
    const auto x = byte_operand(node, 0), w = byte_operand(node, 1), y = quantized_result(graph_, node);
    if (!x || !w || !y || !x->is_per_tensor()) return;
    const Tensor* weights = graph_.value(w->value).constant_tensor();
    if (!weights || weights->shape().rank() < 3 || !is_along(*w, 0, weights->shape())) return;
    std::vector<ValueId> bias;
    if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
      const auto b = dequantized(graph_, node.inputs[2]);
      if (!b || !is_bias(*b, *x, *w)) return;
      bias.push_back(b->value);
    }
    if (!context_.admit()) return;
    replace(node, *y, "QLinearConv", "", {&*x, &*w, &*y}, bias);
  }

  void fuse_matmul(const Node& node) {
    const auto a = byte_operand(node, 0), b = byte_operand(node, 1), y = quantized_result(graph_, node);
    if (!a || !b || !y || !a->is_per_tensor()) return;
    const Tensor* right = graph_.value(b->value).constant_tensor();
    if (!b->is_per_tensor() && (!right || right->shape().rank() != 2 || !is_along(*b, 1, right->shape()))) return;
    if (!context_.admit()) return;
    replace(node, *y, "QLinearMatMul", "", {&*a, &*b, &*y}, {});
  }

  void fuse_binary(const Node& node) {
    const auto a = byte_operand(node, 0), b = byte_operand(node, 1), y = quantized_result(graph_, node);
    if (!a || !b || !y || !a->is_per_tensor() || !b->is_per_tensor() || a->dtype != y->dtype || b->dtype != y->dtype) return;
    if (!context_.admit()) return;
    replace(node, *y, is_op(node, "Add") ? "QLinearAdd" : "QLinearMul", "com.microsoft", {&*a, &*b, &*y}, {});
  }

  /// Whether the scales are one, or one an index of this axis of a tensor.
  bool is_along(const Quantized& q, int axis, const Shape& shape) const {
    if (q.is_per_tensor()) return true;
    const NodeView view(graph_, *q.node);
    const int64_t at = view.int_or("axis", 1);
    return view.int_or("block_size", 0) == 0 && (at == axis || at + shape.rank() == axis) && q.scale->elements() == shape[axis];
  }

  /// int32 with the scale of the sums of products, around 0.
  static bool is_bias(const Quantized& b, const Quantized& x, const Quantized& w) {
    if (b.dtype != DType::int32 || (b.scale->elements() != w.scale->elements() && b.scale->elements() != 1)) return false;
    for (int64_t i = 0; b.zero && i < b.zero->elements(); ++i) {
      if (element_as_int(b.zero->view(), i) != 0) return false;
    }
    const double factor = element_as_double(x.scale->view(), 0);
    for (int64_t i = 0; i < w.scale->elements(); ++i) {
      const double expected = factor * element_as_double(w.scale->view(), i);
      const double found = element_as_double(b.scale->view(), b.scale->elements() == 1 ? 0 : i);
      if (!(std::fabs(found - expected) <= 1e-5 * expected)) return false;
    }
    return true;
  }

  /// The operator that takes values, scales and zero points of operands, then the result's scale and zero point, then `more`.
  void replace(const Node& node, const Quantized& y, std::string_view op_type, std::string_view domain,
               std::initializer_list<const Quantized*> parts, const std::vector<ValueId>& more) {
    Edit& edit = rewrite_.edit();
    Node fused;
    fused.name = node.name;
    fused.op_type = op_type;
    fused.domain = domain;
    fused.opset = domain.empty() ? node.opset : 1;
    if (op_type == "QLinearConv") fused.attributes = node.attributes;
    for (const Quantized* part : parts) {
      if (part != *(parts.end() - 1)) fused.inputs.push_back(rewrite_.current(part->value));
      fused.inputs.push_back(part->node->inputs[1]);
      fused.inputs.push_back(part->zero ? part->node->inputs[2] : zero_of(part->dtype));
    }
    fused.inputs.insert(fused.inputs.end(), more.begin(), more.end());
    fused.outputs = {edit.add_value(graph_.value(y.value).name, graph_.value(y.value).type)};
    const ValueId output = fused.outputs[0];
    edit.add_node(std::move(fused), {node.id, y.node->id});
    rewrite_.replace_node(*y.node, output);
    rewrite_.remove(node.id);
  }

  ValueId zero_of(DType dtype) {
    Tensor zero(dtype, Shape{});
    *zero.data<uint8_t>() = 0;
    return rewrite_.edit().add_constant("zero_point", std::move(zero));
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
};

}  // namespace

/// An operator between DequantizeLinear and QuantizeLinear becomes one that computes on 8-bit integers: QLinearConv, QLinearMatMul,
/// QLinearAdd, QLinearMul.
Edit quantized_forms(const Graph& graph, PassContext& context) { return Fuser(graph, context).run(); }

}  // namespace rh::passes
