#include <algorithm>
#include <span>
#include <vector>

#include "ops/activation/fused_activation.h"
#include "ops/math/gemm.h"
#include "ops/nn/conv.h"
#include "ops/reduction/reduce.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kBroadcastOpset = 7;  // of ai.onnx, from which on Mul broadcasts as numpy does

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

class Matcher {
 public:
  Matcher(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

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
    const auto second = product(behind_views(gate, nodes), nodes);
    const auto first = second ? product(behind_views(input_, nodes), nodes) : std::nullopt;
    if (!first || first->in != (*type.dims)[1].value() || second->out != first->in || second->in != first->out) return false;
    const Node* pool = graph_.producer(behind_views(input_, nodes));
    if (!pool || pool->inputs[0] != x || !is_mean_of_planes(*pool, type)) return false;
    nodes.push_back(pool->id);
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

  /// What the value is another shape of: [N, C, 1, ...] or [N, C] on the way from or to a matrix.
  ValueId behind_views(ValueId value, std::vector<NodeId>& nodes) const {
    const Node* node = graph_.producer(value);
    while (node && node->domain.empty() &&
           (node->op_type == "Reshape" || node->op_type == "Flatten" || node->op_type == "Squeeze" || node->op_type == "Unsqueeze")) {
      const TensorType &from = tensor_type(graph_, node->inputs[0]), &to = tensor_type(graph_, value);
      if (!from.has_rank() || !to.has_rank() || from.rank() < 2 || to.rank() < 2 || !is_per_plane(from, to, to.rank()) ||
          !is_per_plane(to, from, from.rank()))
        break;
      nodes.push_back(node->id);
      value = node->inputs[0];
      node = graph_.producer(value);
    }
    return value;
  }

  /// The product that gives the value; input_ is then what it multiplies.
  std::optional<Product> product(ValueId value, std::vector<NodeId>& nodes) {
    const Node* node = graph_.producer(value);
    if (!node || rewrite_.is_removed(node->id)) return std::nullopt;
    auto found = is_op(*node, "Conv") || is_fused(*node, "FusedConv")   ? pointwise(*node)
                 : is_op(*node, "Gemm") || is_fused(*node, "FusedGemm") ? gemm(*node)
                                                                        : std::nullopt;
    if (!found) return std::nullopt;
    const Tensor* bias = found->bias == kNoValue ? nullptr : graph_.value(found->bias).constant_tensor();
    if (found->bias != kNoValue && (!bias || bias->elements() != found->out || bias->shape()[bias->shape().rank() - 1] != found->out))
      return std::nullopt;
    nodes.push_back(node->id);
    input_ = node->inputs[0];
    return found;
  }

  std::optional<Product> pointwise(const Node& node) const {
    const ops::Conv op = ops::Conv::read(NodeView(graph_, node));
    const Tensor* weights = graph_.value(node.inputs[1]).constant_tensor();
    if (op.activation.function == ops::FusedActivation::Function::prelu) return std::nullopt;
    if (!weights || weights->shape().rank() < 3 || node.inputs.size() > 3 || op.group != 1 || op.window.auto_pad != ops::AutoPad::notset)
      return std::nullopt;
    const Shape& shape = weights->shape();
    if (weights->elements() != shape[0] * shape[1] || !all_are(op.window.pads, 0) || !all_are(op.window.strides, 1)) return std::nullopt;
    return Product{node.inputs[1], node.inputs.size() > 2 ? node.inputs[2] : kNoValue, false, shape[1], shape[0], op.activation};
  }

  std::optional<Product> gemm(const Node& node) const {
    const ops::Gemm op = ops::Gemm::read(NodeView(graph_, node));
    const Tensor* weights = graph_.value(node.inputs[1]).constant_tensor();
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

  bool is_mean_of_planes(const Node& node, const TensorType& x) const {
    if (is_op(node, "GlobalAveragePool")) return true;
    if (!is_op(node, "ReduceMean")) return false;
    const NodeView view(graph_, node);
    const ops::Reduce op = ops::Reduce::read(view);
    std::vector<int64_t> axes;
    if (op.axes) axes.assign(op.axes->begin(), op.axes->end());
    if (op.axes_are_input && view.has_input(1)) {
      const Tensor* given = view.constant_input(1);
      if (!given || given->dtype() != DType::int64) return false;
      axes.assign(given->data<int64_t>(), given->data<int64_t>() + given->elements());
    }
    if (axes.empty()) return false;
    const auto reduced = op.reduced(axes, x.rank());
    return !reduced[0] && !reduced[1] && std::all_of(reduced.begin() + 2, reduced.end(), [](bool r) { return r; });
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
  ValueId input_ = kNoValue;  // of the product found last
};

}  // namespace

/// Planes that are multiplied by a gate, which two small products make of their means, become one SqueezeExcite.
Edit squeeze_excite(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
