// Pattern: BatchNormalization, or Mul, Add, Sub, Div by one constant a channel, before Conv, ConvTranspose, MatMul or Gemm with constant
//   weights.
// Replacement: the operators alone, their weights and bias scaled in double precision.
// Not: where something else takes the scaled value; a shift before a convolution with pads; what may be the end of a normalisation or an
//   activation.

#include <algorithm>

#include "ops/nn/conv.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/channel_affine.h"
#include "passes/pattern/linear_operator.h"
#include "tensor/dispatch.h"

namespace rh::passes {

namespace {

/// Operators in a row that scale and shift the channels of `from`.
struct Chain {
  ValueId from = kNoValue;
  ChannelAffine affine;
  std::vector<NodeId> nodes;  ///< the last one first
  bool has_arithmetic = false;
};

class Scaler : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Node& node = graph_.node(*id);
      if (is_channel_affine(node) && !rewrite_.is_removed(node.id) && is_only_output(graph_, node)) fold(node);
    }
    return rewrite_.take();
  }

 private:
  void fold(const Node& last) {
    const std::vector<LinearOperator> users = users_of(last.outputs[0]);
    const auto type = type_for(users, last.outputs[0]);
    const auto chain = type ? chain_to(last.outputs[0], *type) : std::nullopt;
    if (!chain || (chain->has_arithmetic && may_belong_to(chain->from))) return;
    std::vector<ScaledOperator> made;
    for (const LinearOperator& op : users) {
      auto scaled = scaled_operator(op, *chain);
      if (!scaled) return;
      made.push_back(std::move(*scaled));
    }
    if (!context_.admit()) return;
    for (size_t i = 0; i < users.size(); ++i)
      rewrite_.replace_node(*users[i].node, add_scaled(graph_, rewrite_.edit(), users[i], std::move(made[i])));
    for (const NodeId id : chain->nodes) rewrite_.remove(id);
  }

  /// The linear operators that take the value; none where something else does, too.
  std::vector<LinearOperator> users_of(ValueId value) const {
    std::vector<LinearOperator> users;
    if (graph_.value(value).is_output) return {};
    for (const NodeId id : graph_.value(value).consumers) {
      const Node& node = graph_.node(id);
      auto op = linear_operator(graph_, node);
      const bool is_input = op && node.inputs[0] == value && !op->transposes_input;
      if (!is_input || rewrite_.is_removed(id) || !owns_weights(graph_, *op) || !is_only_output(graph_, node)) return {};
      users.push_back(std::move(*op));
    }
    return users;
  }

  /// Where all of them have the channels of the value; nothing where they differ.
  std::optional<ChannelValue> type_for(const std::vector<LinearOperator>& users, ValueId value) const {
    const TensorType& type = tensor_type(graph_, value);
    if (!type.has_rank()) return std::nullopt;
    std::optional<ChannelValue> result;
    for (const LinearOperator& op : users) {
      const ChannelValue found{op.weights->dtype(), type.rank(), op.inputs, op.is_product() ? type.rank() - 1 : 1};
      if (found.axis < 0 || (result && *result != found)) return std::nullopt;
      result = found;
    }
    return result;
  }

  std::optional<Chain> chain_to(ValueId value, const ChannelValue& type) const {
    const size_t channels = static_cast<size_t>(type.channels);
    Chain chain{.from = value, .affine = {std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0)}, .nodes = {}};
    while (chain.nodes.empty() || has_one_use(graph_.value(chain.from))) {
      auto step = channel_affine_before(graph_, chain.from, type);
      if (!step) break;
      append(step->affine, chain.affine);
      chain.affine = std::move(step->affine);
      chain.nodes.push_back(step->node->id);
      chain.has_arithmetic |= !is_op(*step->node, "BatchNormalization");
      chain.from = step->from;
    }
    return chain.nodes.empty() ? std::nullopt : std::optional(std::move(chain));
  }

  /// Whether what scales the value may be the end of a normalisation or an activation that is written out, or the bias of a product.
  bool may_belong_to(ValueId value) const {
    const Node* node = graph_.producer(value);
    if (!node) return false;
    if (is_op(*node, "Cast")) return FloatingTypes::set.contains(tensor_type(graph_, node->inputs[0]).dtype);
    constexpr std::string_view kOps[] = {"Mul", "Div", "Clip", "Reshape", "MatMul"};
    return node->op_type.ends_with("Normalization") ||
           std::ranges::any_of(kOps, [&](std::string_view op_type) { return is_op(*node, op_type); });
  }

  std::optional<ScaledOperator> scaled_operator(const LinearOperator& op, const Chain& chain) const {
    const bool scales = std::ranges::any_of(chain.affine.scale, [](double v) { return v != 1.0; });
    const bool shifts = std::ranges::any_of(chain.affine.shift, [](double v) { return v != 0.0; });
    if (shifts && !covers_input_alone(op)) return std::nullopt;
    ScaledOperator scaled{.input = rewrite_.current(chain.from),
                          .weights = scales ? scaled_weights(op, {}, chain.affine.scale) : std::nullopt,
                          .bias = {},
                          .bias_name = graph_.value(op.node->outputs[0]).name + "_bias",
                          .sum_name = graph_.node(chain.nodes.front()).name,
                          .nodes = chain.nodes};
    if (scales && !scaled.weights) return std::nullopt;
    std::ranges::reverse(scaled.nodes);
    scaled.nodes.push_back(op.node->id);
    if (!shifts) return scaled;
    std::vector<double> bias = bias_values(op);
    const std::vector<double> added = propagated(op, chain.affine.shift);
    for (size_t c = 0; c < bias.size(); ++c) bias[c] += added[c];
    scaled.bias = channel_parameters(op.weights->dtype(), bias);
    return scaled.bias ? std::optional(std::move(scaled)) : std::nullopt;
  }

  /// Whether the whole kernel lies within the input at every position.
  bool covers_input_alone(const LinearOperator& op) const {
    if (op.is_product()) return true;
    if (!is_op(*op.node, "Conv")) return false;
    const ops::Window window = ops::Conv::read(NodeView(graph_, *op.node)).window;
    const bool is_padded = window.auto_pad == ops::AutoPad::same_upper || window.auto_pad == ops::AutoPad::same_lower;
    return !is_padded && ops::all_are(window.pads, 0);
  }
};

}  // namespace

Edit fold_input_scale_into_weights(const Graph& graph, PassContext& context) { return Scaler(graph, context).run(); }

}  // namespace rh::passes
