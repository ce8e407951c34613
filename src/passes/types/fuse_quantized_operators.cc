// Pattern: Conv, MatMul, Gemm, Add, Mul, GlobalAveragePool, or what only moves elements, between DequantizeLinear and QuantizeLinear of 8
//   bits.
// Replacement: QLinearConv, QLinearMatMul, QGemm, QLinearAdd, QLinearMul, QLinearGlobalAveragePool; what moves elements moves the codes.
// Not: results that something else takes too; scales that are not constant or not of the operator's kind; a bias of another scale than the
//   products.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "ops/nn/conv.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/spatial_pad.h"

namespace rh::passes {

namespace {

constexpr std::string_view kContributed = "com.microsoft";
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
  bool equals(const Quantized& other) const {
    const auto zero_of = [](const Quantized& q) { return q.zero && q.zero->elements() > 0 ? element_as_int(q.zero->view(), 0) : 0; };
    return dtype == other.dtype && element_as_float(scale->view(), 0) == element_as_float(other.scale->view(), 0) &&
           zero_of(*this) == zero_of(other);
  }
};

/// Operators that give some of their first input's elements, in another order or form: of one quantisation they give the same.
bool only_moves(const Node& node) {
  static constexpr std::array<std::string_view, 6> kMoving = {"MaxPool", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze"};
  constexpr int kBytesOpset = 13;  // of ai.onnx, from which on all of them take 8-bit integers
  return node.opset >= kBytesOpset && std::find(kMoving.begin(), kMoving.end(), node.op_type) != kMoving.end();
}

/// With other scales the order of the integers would not be that of what they stand for, or a sum of them no finite number.
bool is_usual_scale(float scale) { return scale >= 0 && scale <= std::numeric_limits<float>::max(); }

std::optional<Quantized> quantization(const Graph& graph, const Node& node, DType dtype, ValueId value) {
  const NodeView view(graph, node);
  Quantized q{.node = &node, .value = value, .dtype = dtype, .scale = view.constant_input(1), .zero = view.constant_input(2)};
  if (!q.scale || q.scale->dtype() != DType::float32 || q.scale->shape().rank() > 1 || (view.has_input(2) && !q.zero)) return std::nullopt;
  const float* scales = q.scale->data<float>();
  return std::all_of(scales, scales + q.scale->elements(), is_usual_scale) ? std::optional(q) : std::nullopt;
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

/// What is padded by zeros, quantised as the result is, and the pads of a convolution that does so by itself.
struct Padded {
  Quantized x;
  std::vector<int64_t> pads;
};

class Fuser : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (node.opset < kQuantizedOpset) continue;
      if (is_op(node, "Conv")) fuse_conv(node);
      if (is_op(node, "MatMul")) fuse_matmul(node);
      if (is_op(node, "Gemm")) fuse_gemm(node);
      if (is_op(node, "Add")) fuse_biased_matmul(node);
      if ((is_op(node, "Add") || is_op(node, "Mul")) && !rewrite_.is_removed(id)) fuse_binary(node);
      if (is_op(node, "GlobalAveragePool")) fuse_pool(node);
      if (node.domain.empty() && only_moves(node)) fuse_move(node);
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
    const int64_t groups = NodeView(graph_, node).int_or("group", 1);
    // Of several outputs a channel: the kernels of floats are faster.
    if (groups > 1 && weights->shape()[1] == 1 && weights->shape()[0] != groups) return;
    std::vector<ValueId> bias;
    if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
      const auto b = dequantized(graph_, node.inputs[2]);
      if (!b || !is_bias(*b, *x, *w)) return;
      bias.push_back(b->value);
    }
    if (!context_.admit()) return;
    const auto padded = padded_by(node, *x);
    replace(node, *y, "QLinearConv", "", {padded ? &padded->x : &*x, &*w}, {}, bias, padded ? &padded->pads : nullptr);
  }

  /// Where a Pad that nothing else takes gives what the convolution takes.
  std::optional<Padded> padded_by(const Node& conv, const Quantized& x) const {
    const Node* quantize = graph_.producer(x.value);
    if (!quantize || !is_op(*quantize, "QuantizeLinear") || !has_one_use(graph_.value(x.value))) return std::nullopt;
    const Node* pad = quantize->inputs[0] == kNoValue ? nullptr : graph_.producer(quantize->inputs[0]);
    const auto to = quantization(graph_, *quantize, x.dtype, x.value);
    if (!pad || !is_op(*pad, "Pad") || !has_one_use(graph_.value(quantize->inputs[0])) || !to || !to->is_per_tensor()) return std::nullopt;
    const auto from = byte_operand(*pad, 0);
    if (!from || !from->is_per_tensor() || !from->equals(x) || !to->equals(x)) return std::nullopt;
    const auto spatial = spatial_pad(graph_, *pad);
    const auto pads = spatial && spatial->value == 0 ? joined_pads(ops::Conv::read(NodeView(graph_, conv)).window, *spatial) : std::nullopt;
    return pads ? std::optional(Padded{*from, *pads}) : std::nullopt;
  }

  void fuse_matmul(const Node& node) {
    const auto a = byte_operand(node, 0), b = byte_operand(node, 1), y = quantized_result(graph_, node);
    if (!a || !b || !y || !a->is_per_tensor()) return;
    const Tensor* right = graph_.value(b->value).constant_tensor();
    if (!b->is_per_tensor() && (!right || right->shape().rank() != 2 || !is_along(*b, 1, right->shape()))) return;
    if (!context_.admit()) return;
    replace(node, *y, "QLinearMatMul", "", {&*a, &*b}, {}, {});
  }

  void fuse_binary(const Node& node) {
    const auto a = byte_operand(node, 0), b = byte_operand(node, 1), y = quantized_result(graph_, node);
    if (!a || !b || !y || !a->is_per_tensor() || !b->is_per_tensor() || a->dtype != y->dtype || b->dtype != y->dtype) return;
    if (!context_.admit()) return;
    replace(node, *y, is_op(node, "Add") ? "QLinearAdd" : "QLinearMul", kContributed, {&*a, &*b}, {}, {});
  }

  void fuse_gemm(const Node& node) {
    const auto a = byte_operand(node, 0), b = byte_operand(node, 1), y = quantized_result(graph_, node);
    if (!a || !b || !y || !a->is_per_tensor()) return;
    const NodeView view(graph_, node);
    const Tensor* right = graph_.value(b->value).constant_tensor();
    if (view.float_or("alpha", 1) != 1 || view.float_or("beta", 1) != 1 || !right || right->shape().rank() != 2) return;
    if (!is_along(*b, view.flag("transB") ? 0 : 1, right->shape())) return;
    std::vector<ValueId> bias{kNoValue};
    if (view.has_input(2)) {
      const auto c = dequantized(graph_, node.inputs[2]);
      if (!c || !is_bias(*c, *a, *b) || !has_scales_of_columns(*c)) return;
      bias[0] = c->value;
    }
    if (!context_.admit()) return;
    replace(node, *y, "QGemm", kContributed, {&*a, &*b}, bias, {});
  }

  /// A product of matrices to which a row is added.
  void fuse_biased_matmul(const Node& node) {
    const auto y = quantized_result(graph_, node);
    for (size_t input = 0; y && input < 2; ++input) {
      const Node* product = node.inputs[input] == kNoValue ? nullptr : graph_.producer(node.inputs[input]);
      if (!product || !is_op(*product, "MatMul") || !has_one_use(graph_.value(node.inputs[input]))) continue;
      const auto a = byte_operand(*product, 0), b = byte_operand(*product, 1), c = dequantized(graph_, node.inputs[1 - input]);
      const TensorType& left = tensor_type(graph_, product->inputs[0]);
      if (!a || !b || !c || !a->is_per_tensor() || !left.has_rank() || left.rank() != 2) continue;
      const Tensor *right = graph_.value(b->value).constant_tensor(), *bias = graph_.value(c->value).constant_tensor();
      if (!right || right->shape().rank() != 2 || !is_along(*b, 1, right->shape())) continue;
      if (!bias || bias->shape().rank() != 1 || bias->elements() != right->shape()[1] || !is_bias(*c, *a, *b)) continue;
      if (!context_.admit()) return;
      return replace(node, *y, "QGemm", kContributed, {&*a, &*b}, {c->value}, {});
    }
  }

  void fuse_pool(const Node& node) {
    const auto x = byte_operand(node, 0), y = quantized_result(graph_, node);
    const int rank = tensor_type(graph_, node.inputs[0]).has_rank() ? tensor_type(graph_, node.inputs[0]).rank() : 0;
    if (!x || !y || !x->is_per_tensor() || x->dtype != y->dtype || rank < 3 || !context_.admit()) return;
    replace(node, *y, "QLinearGlobalAveragePool", kContributed, {&*x}, {}, {});
  }

  void fuse_move(const Node& node) {
    const auto x = byte_operand(node, 0), y = quantized_result(graph_, node);
    if (!x || !y || !x->is_per_tensor() || !x->equals(*y) || !context_.admit()) return;
    Edit& edit = rewrite_.edit();
    Node moved;
    moved.name = node.name;
    moved.op_type = node.op_type;
    moved.opset = node.opset;
    moved.attributes = node.attributes;
    moved.inputs = node.inputs;
    moved.inputs[0] = rewrite_.current(x->value);
    add(edit, node, *y, std::move(moved));
  }

  /// Whether the scales are one, or one an index of this axis of a tensor.
  bool is_along(const Quantized& q, int axis, const Shape& shape) const {
    if (q.is_per_tensor()) return true;
    const NodeView view(graph_, *q.node);
    const int64_t at = view.int_or("axis", 1);
    return view.int_or("block_size", 0) == 0 && (at == axis || at + shape.rank() == axis) && q.scale->elements() == shape[axis];
  }

  /// Whether several scales go along the last dimension.
  bool has_scales_of_columns(const Quantized& q) const {
    if (q.is_per_tensor()) return true;
    const TensorType& type = tensor_type(graph_, q.value);
    const int64_t axis = NodeView(graph_, *q.node).int_or("axis", 1);
    return type.has_rank() && (type.rank() == 1 || axis == -1 || axis + 1 == type.rank());
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

  /// The operator that takes values, scales and zero points of operands, then `middle`, the result's scale and zero point, and `more`;
  /// with these pads instead of its own where there are any.
  void replace(const Node& node, const Quantized& y, std::string_view op_type, std::string_view domain,
               std::initializer_list<const Quantized*> operands, const std::vector<ValueId>& middle, const std::vector<ValueId>& more,
               const std::vector<int64_t>* pads = nullptr) {
    Edit& edit = rewrite_.edit();
    Node fused;
    fused.name = node.name;
    fused.op_type = op_type;
    fused.domain = domain;
    fused.opset = domain.empty() ? node.opset : 1;
    if (pads) fused.attributes.push_back({"pads", *pads});
    for (const Attribute& attribute : node.attributes) {
      if (pads && (attribute.name == "pads" || attribute.name == "auto_pad")) continue;
      if (op_type == "QLinearConv" || (op_type == "QGemm" && attribute.name != "beta")) fused.attributes.push_back(attribute);
    }
    const auto add_scale = [&](const Quantized& part) {
      fused.inputs.push_back(part.node->inputs[1]);
      fused.inputs.push_back(part.zero ? part.node->inputs[2] : zero_of(part.dtype));
    };
    for (const Quantized* operand : operands) {
      fused.inputs.push_back(rewrite_.current(operand->value));
      add_scale(*operand);
    }
    fused.inputs.insert(fused.inputs.end(), middle.begin(), middle.end());
    add_scale(y);
    fused.inputs.insert(fused.inputs.end(), more.begin(), more.end());
    add(edit, node, y, std::move(fused));
  }

  /// `fused` stands for the node and the quantisation of its result.
  void add(Edit& edit, const Node& node, const Quantized& y, Node fused) {
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
};

}  // namespace

Edit fuse_quantized_operators(const Graph& graph, PassContext& context) { return Fuser(graph, context).run(); }

}  // namespace rh::passes
