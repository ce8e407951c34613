// Pattern: a layer normalisation over the last dimension that is written out with ReduceMean, Sub, Pow, Add, Sqrt, Div, a scale and a bias,
//   in models of opset 17 and later.
// Replacement: LayerNormalization, as ONNX Runtime has it at its basic level.
// Not: other ways to write it, for which tools look themselves; where something else takes a value in between.

#include <algorithm>

#include "ops/reduction/reduce.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kLayerOpset = 17;

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    return visit_nodes([&](const Node& node) {
      if (node.opset >= kLayerOpset && is_op(node, "Add")) visit(node);
    });
  }

 private:
  struct Found {
    ValueId x = kNoValue, scale = kNoValue, bias = kNoValue;
    double epsilon = 0;
    std::vector<NodeId> nodes;
  };

  void visit(const Node& last) {
    for (size_t i = 0; i < 2; ++i) {
      Found f;
      if (!match(last, last.inputs[i], last.inputs[1 - i], f) || !is_closed(graph_, f.nodes, last)) continue;
      if (!have_same_type(graph_, f.x, last.outputs[0]) || !context_.admit()) return;
      Node fused;
      fused.name = last.name;
      fused.op_type = "LayerNormalization";
      fused.opset = last.opset;
      fused.attributes = {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(f.epsilon)}};
      fused.inputs = {rewrite_.current(f.x), rewrite_.current(f.scale), rewrite_.current(f.bias)};
      rewrite_.replace_nodes(std::move(fused), last, f.nodes);
      return;
    }
  }

  /// The node of this operator that gives the value, which is kept among those found; null where it is another, or taken already.
  const Node* giver(ValueId value, std::string_view op_type, Found& f) const {
    const Node* node = graph_.producer(value);
    if (!node || !is_op(*node, op_type) || rewrite_.is_removed(node->id)) return nullptr;
    if (std::ranges::find(f.nodes, node->id) == f.nodes.end()) f.nodes.push_back(node->id);
    return node;
  }

  bool match(const Node& last, ValueId scaled, ValueId bias, Found& f) const {
    f.nodes = {last.id};
    f.bias = bias;
    const Node* product = giver(scaled, "Mul", f);
    if (!product) return false;
    for (size_t i = 0; i < 2; ++i) {
      Found tried = f;
      tried.scale = product->inputs[1 - i];
      if (!match_quotient(product->inputs[i], tried) || !is_parameter(tried, tried.scale) || !is_parameter(tried, tried.bias)) continue;
      f = std::move(tried);
      return true;
    }
    return false;
  }

  /// (x - mean) / sqrt(mean((x - mean)^2) + epsilon).
  bool match_quotient(ValueId value, Found& f) const {
    const Node* quotient = giver(value, "Div", f);
    const Node* root = quotient ? giver(quotient->inputs[1], "Sqrt", f) : nullptr;
    const Node* sum = root ? giver(root->inputs[0], "Add", f) : nullptr;
    if (!sum) return false;
    const size_t at = constant_number(graph_, sum->inputs[0]) ? 0 : 1;
    const auto epsilon = constant_number(graph_, sum->inputs[at]);
    const ValueId square = epsilon && *epsilon >= 0 ? mean_of(sum->inputs[1 - at], f) : kNoValue;
    const Node* power = square != kNoValue ? giver(square, "Pow", f) : nullptr;
    if (!power || constant_number(graph_, power->inputs[1]) != 2.0) return false;
    f.epsilon = *epsilon;
    f.x = centred(quotient->inputs[0], f);
    return f.x != kNoValue && centred(power->inputs[0], f) == f.x;
  }

  /// Of x - mean(x) what x is.
  ValueId centred(ValueId value, Found& f) const {
    const Node* difference = giver(value, "Sub", f);
    return difference && mean_of(difference->inputs[1], f) == difference->inputs[0] ? difference->inputs[0] : kNoValue;
  }

  /// Of what the value is the mean over the last dimension, which stays.
  ValueId mean_of(ValueId value, Found& f) const {
    const Node* node = giver(value, "ReduceMean", f);
    if (!node) return kNoValue;
    const TensorType& type = tensor_type(graph_, node->inputs[0]);
    const NodeView view(graph_, *node);
    const ops::Reduce op = ops::Reduce::read(view);
    std::vector<int64_t> axes = op.axes.value_or(std::vector<int64_t>());
    if (op.axes_are_input) {
      const Tensor* given = view.constant_input(1);
      if (!given || given->dtype() != DType::int64) return kNoValue;
      axes.assign(given->data<int64_t>(), given->data<int64_t>() + given->elements());
    }
    const bool is_last = axes.size() == 1 && (axes[0] == -1 || (type.has_rank() && axes[0] == type.rank() - 1));
    return is_last && op.keep_dims ? node->inputs[0] : kNoValue;
  }

  /// One number for each element of the last dimension, of the type of x.
  bool is_parameter(const Found& f, ValueId value) const {
    const TensorType &type = tensor_type(graph_, value), &x = tensor_type(graph_, f.x);
    const bool is_float = x.dtype == DType::float32 || x.dtype == DType::float16;
    return is_float && type.dtype == x.dtype && x.has_rank() && x.rank() > 0 && type.has_rank() && type.rank() == 1 &&
           type.dims->front() == x.dims->back();
  }
};

}  // namespace

Edit recognise_layer_normalizations(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
