// Pattern: planes times a gate that two small products, with their activations, make of the planes' means.
// Replacement: SqueezeExcite.
// Not: other types than float32; weights or biases that are not constant or do not fit the channels; values in between that something else
//   takes.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "ops/activation/fused_activation.h"
#include "ops/math/fused_matmul.h"
#include "ops/math/gemm.h"
#include "ops/nn/conv.h"
#include "ops/nn/pool.h"
#include "ops/reduction/reduce.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

bool is_fused(const Node& node, std::string_view op_type) { return node.op_type == op_type && node.domain == "com.microsoft"; }

bool all_are(std::span<const int64_t> values, int64_t value) {
  return std::ranges::all_of(values, [&](int64_t v) { return v == value; });
}

/// One of the two small products.
struct Product {
  ValueId weights = kNoValue, bias = kNoValue;
  bool transposed = false;  ///< weights lie as [in, out]
  int64_t in = 0, out = 0;
  ops::FusedActivation activation;
};

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!is_op(node, "Mul") || node.opset < kBroadcastOpset || node.inputs.size() != 2) continue;
      if (!match(node, node.inputs[0], node.inputs[1])) match(node, node.inputs[1], node.inputs[0]);
    }
    return rewrite_.take();
  }

 private:
  bool match(const Node& root, ValueId x, ValueId gate) {
    const TensorType &type = tensor_type(graph_, x), &gates = tensor_type(graph_, gate);
    if (x == gate || type.dtype != DType::float32 || !type.has_rank() || type.rank() < 3 || !(*type.dims)[1].is_constant()) return false;
    if (!is_per_plane(type, gates, type.rank()) || !have_same_type(graph_, x, root.outputs[0])) return false;
    std::vector<NodeId> nodes{root.id};
    const auto second = gate_product(behind_views(gate, nodes), nodes);
    const auto first = second ? product(behind_views(input_, nodes), nodes) : std::nullopt;
    if (!first || first->in != (*type.dims)[1].value() || second->out != first->in || second->in != first->out) return false;
    if (!is_mean_of_planes(behind_views(input_, nodes), x, nodes)) return false;
    if (!is_closed(graph_, nodes, root) || !context_.admit()) return false;
    Node made;
    made.name = root.name;
    made.op_type = "SqueezeExcite";
    made.domain = "roundhouse";
    made.opset = 1;
    made.attributes = first->activation.attributes();
    for (Attribute& attribute : second->activation.attributes("gate")) made.attributes.push_back(std::move(attribute));
    if (first->transposed) made.attributes.push_back({"first_transposed", int64_t{1}});
    if (second->transposed) made.attributes.push_back({"second_transposed", int64_t{1}});
    for (ValueId input : {x, first->weights, first->bias, second->weights, second->bias})
      made.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    while (made.inputs.back() == kNoValue) made.inputs.pop_back();
    rewrite_.replace_nodes(std::move(made), root, nodes);
    return true;
  }

  /// Whether `values` are [N, C, 1, ...] of `rank` dimensions, N and C being those of `x`.
  static bool is_per_plane(const TensorType& x, const TensorType& values, int rank) {
    if (!values.has_rank() || values.rank() != rank || !std::equal(values.dims->begin(), values.dims->begin() + 2, x.dims->begin()))
      return false;
    return !(*x.dims)[0].is_unknown() &&
           std::all_of(values.dims->begin() + 2, values.dims->end(), [](const Dim& dim) { return dim.is_constant(1); });
  }

  /// What the value is another shape of: [N, C] with dimensions of 1 anywhere behind N.
  ValueId behind_views(ValueId value, std::vector<NodeId>& nodes) const {
    const Node* node = graph_.producer(value);
    while (node && (is_view(*node) || keeps_batch(*node))) {
      const auto from = channels_of(tensor_type(graph_, node->inputs[0])), to = channels_of(tensor_type(graph_, value));
      if (!from || from != to || (*tensor_type(graph_, node->inputs[0]).dims)[0] != (*tensor_type(graph_, value).dims)[0]) break;
      nodes.push_back(node->id);
      value = node->inputs[0];
      node = graph_.producer(value);
    }
    return value;
  }

  bool keeps_batch(const Node& node) const {
    const auto perm = is_op(node, "Transpose") ? permutation(NodeView(graph_, node)) : std::nullopt;
    return perm && !perm->empty() && perm->front() == 0;
  }

  /// C of [N, C] with dimensions of 1 anywhere behind N.
  static std::optional<int64_t> channels_of(const TensorType& type) {
    if (!type.has_rank() || type.rank() < 2 || (*type.dims)[0].is_unknown()) return std::nullopt;
    int64_t channels = 1;
    for (auto dim = type.dims->begin() + 1; dim != type.dims->end(); ++dim) {
      if (!dim->is_constant() || (!dim->is_constant(1) && channels != 1)) return std::nullopt;
      if (!dim->is_constant(1)) channels = dim->value();
    }
    return channels;
  }

  /// The second product, whose hard sigmoid may be written out behind it: min(max(y, 0), m) / m.
  std::optional<Product> gate_product(ValueId value, std::vector<NodeId>& nodes) {
    const auto scale = factor_of(value, nodes);
    const auto limit = scale ? limit_of(input_, nodes) : std::nullopt;
    auto found = product(behind_views(scale ? input_ : value, nodes), nodes);
    if (!found || !scale) return found;
    using Function = ops::FusedActivation::Function;
    const ops::FusedActivation& inner = found->activation;
    const bool is_clip = inner.function == Function::clip && inner.alpha == 0;
    if (!(is_clip && !limit) && !(inner.function == Function::relu && limit)) return std::nullopt;
    const double most = limit ? *limit : static_cast<double>(inner.beta);
    if (!(std::fabs(most * *scale - 1) <= 1e-6)) return std::nullopt;
    found->activation = {.function = Function::hard_sigmoid, .alpha = static_cast<float>(*scale), .beta = 0};
    return found;
  }

  /// The number by which the value is a product; input_ is then the other factor.
  std::optional<double> factor_of(ValueId value, std::vector<NodeId>& nodes) {
    const Node* node = graph_.producer(value);
    const bool multiplies = node && is_op(*node, "Mul"), divides = node && is_op(*node, "Div");
    if ((!multiplies && !divides) || node->opset < kBroadcastOpset) return std::nullopt;
    for (size_t i = multiplies ? 0 : 1; i < 2; ++i) {
      const auto number = constant_number(graph_, node->inputs[i]);
      if (!number || !have_same_type(graph_, node->inputs[1 - i], value)) continue;
      nodes.push_back(node->id);
      input_ = node->inputs[1 - i];
      return multiplies ? *number : 1 / *number;
    }
    return std::nullopt;
  }

  /// The number than which Min lets the value be no larger; input_ is then what it limits.
  std::optional<double> limit_of(ValueId value, std::vector<NodeId>& nodes) {
    const Node* node = graph_.producer(value);
    if (!node || !is_op(*node, "Min") || node->opset <= kBroadcastOpset || node->inputs.size() != 2) return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      const auto number = constant_number(graph_, node->inputs[i]);
      if (!number || !have_same_type(graph_, node->inputs[1 - i], value)) continue;
      nodes.push_back(node->id);
      input_ = node->inputs[1 - i];
      return number;
    }
    return std::nullopt;
  }

  /// The product that gives the value; input_ is then what it multiplies.
  std::optional<Product> product(ValueId value, std::vector<NodeId>& nodes) {
    const Node* node = graph_.producer(value);
    if (!node || rewrite_.is_removed(node->id)) return std::nullopt;
    auto found = is_op(*node, "Conv") || is_fused(*node, "FusedConv")     ? pointwise(*node)
                 : is_op(*node, "Gemm") || is_fused(*node, "FusedGemm")   ? gemm(*node)
                 : is_op(*node, "MatMul") || is_own(*node, "FusedMatMul") ? matmul(*node)
                                                                          : std::nullopt;
    if (!found || tensor_type(graph_, found->weights).dtype != DType::float32) return std::nullopt;
    const Tensor* bias = found->bias == kNoValue ? nullptr : graph_.value(found->bias).constant_tensor();
    if (found->bias != kNoValue &&
        (!bias || bias->shape().empty() || bias->elements() != found->out || bias->shape()[bias->shape().rank() - 1] != found->out))
      return std::nullopt;
    nodes.push_back(node->id);
    input_ = node->inputs[0];
    return found;
  }

  std::optional<Product> pointwise(const Node& node) const {
    const ops::Conv op = ops::Conv::read(NodeView(graph_, node));
    const Tensor* weights = NodeView(graph_, node).constant_input(1);
    if (op.activation.function == ops::FusedActivation::Function::prelu) return std::nullopt;
    if (!weights || weights->shape().rank() < 3 || node.inputs.size() > 3 || op.group != 1 || op.window.auto_pad != ops::AutoPad::notset)
      return std::nullopt;
    const Shape& shape = weights->shape();
    if (weights->elements() != shape[0] * shape[1] || !all_are(op.window.pads, 0) || !all_are(op.window.strides, 1)) return std::nullopt;
    return Product{node.inputs[1], node.inputs.size() > 2 ? node.inputs[2] : kNoValue, false, shape[1], shape[0], op.activation};
  }

  std::optional<Product> gemm(const Node& node) const {
    const ops::Gemm op = ops::Gemm::read(NodeView(graph_, node));
    const Tensor* weights = NodeView(graph_, node).constant_input(1);
    if (!weights || weights->shape().rank() != 2 || op.alpha != 1 || op.beta != 1 || op.transpose_a) return std::nullopt;
    if (node.domain.empty() && node.opset < kBroadcastOpset) return std::nullopt;
    const int64_t rows = weights->shape()[0], columns = weights->shape()[1];
    return Product{node.inputs[1],
                   node.inputs.size() > 2 ? node.inputs[2] : kNoValue,
                   !op.transpose_b,
                   op.transpose_b ? columns : rows,
                   op.transpose_b ? rows : columns,
                   op.activation};
  }

  std::optional<Product> matmul(const Node& node) const {
    const ops::FusedMatMul op = ops::FusedMatMul::read(NodeView(graph_, node));
    const Tensor* weights = NodeView(graph_, node).constant_input(1);
    if (!weights || weights->shape().rank() != 2 || op.alpha != 1 || op.transpose_a || op.transpose_batch_a || op.transpose_batch_b)
      return std::nullopt;
    const TensorType& rows = tensor_type(graph_, node.inputs[0]);
    const int64_t in = weights->shape()[op.transpose_b ? 1 : 0], out = weights->shape()[op.transpose_b ? 0 : 1];
    if (node.inputs.size() > 3 || channels_of(rows) != in || !rows.dims->back().is_constant(in)) return std::nullopt;
    return Product{node.inputs[1], node.inputs.size() > 2 ? node.inputs[2] : kNoValue, !op.transpose_b, in, out, op.activation};
  }

  /// Whether the value is the mean of each plane of x, perhaps of one dimension after the other.
  bool is_mean_of_planes(ValueId value, ValueId x, std::vector<NodeId>& nodes) const {
    const TensorType &type = tensor_type(graph_, x), &means = tensor_type(graph_, value);
    if (!means.has_rank() || means.rank() < 2 || !is_per_plane(type, means, means.rank())) return false;
    const Node* node = graph_.producer(value);
    if (!node) return false;
    nodes.push_back(node->id);
    if (is_op(*node, "GlobalAveragePool") || is_mean_of_whole_window(*node)) return node->inputs[0] == x;
    if (!keeps_channels(*node)) return false;
    if (node->inputs[0] == x) return true;
    node = graph_.producer(node->inputs[0]);
    if (!node || !keeps_channels(*node)) return false;
    nodes.push_back(node->id);
    return node->inputs[0] == x;
  }

  /// AveragePool of one window, which is all of the plane.
  bool is_mean_of_whole_window(const Node& node) const {
    if (!is_op(node, "AveragePool")) return false;
    const TensorType& x = tensor_type(graph_, node.inputs[0]);
    const ops::Window window = ops::Pool::read(NodeView(graph_, node)).window;
    const bool is_plain = window.auto_pad == ops::AutoPad::notset || window.auto_pad == ops::AutoPad::valid;
    if (!is_plain || !all_are(window.pads, 0) || !all_are(window.dilations, 1) || !x.has_rank() || x.rank() < 3) return false;
    return std::equal(x.dims->begin() + 2, x.dims->end(), window.kernel.begin(), window.kernel.end(),
                      [](const Dim& dim, int64_t size) { return dim.is_constant(size); });
  }

  /// ReduceMean of neither the first dimension nor the second.
  bool keeps_channels(const Node& node) const {
    if (!is_op(node, "ReduceMean")) return false;
    const TensorType& type = tensor_type(graph_, node.inputs[0]);
    const NodeView view(graph_, node);
    const ops::Reduce op = ops::Reduce::read(view);
    std::vector<int64_t> axes;
    if (op.axes) axes.assign(op.axes->begin(), op.axes->end());
    if (op.axes_are_input && view.has_input(1)) {
      const Tensor* given = view.constant_input(1);
      if (!given || given->dtype() != DType::int64) return false;
      axes.assign(given->data<int64_t>(), given->data<int64_t>() + given->elements());
    }
    if (axes.empty() || !type.has_rank() || type.rank() < 3) return false;
    const auto reduced = op.reduced(axes, type.rank());
    return !reduced[0] && !reduced[1];
  }

  ValueId input_ = kNoValue;  // of the product found last
};

}  // namespace

Edit recognise_squeeze_excite(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
