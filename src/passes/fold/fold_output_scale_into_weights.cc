// Pattern: BatchNormalization, or Mul, Add, Sub, Div by one constant a channel, behind Conv, ConvTranspose, MatMul or Gemm with constant
//   weights; views between.
// Replacement: the operator alone, its weights and bias scaled in double precision; behind a MatMul one Add where there is a bias.
// Not: where something else takes a value in between or the weights; numbers that do not fit the type; a MatMul whose only follower is its
//   bias.

#include <algorithm>
#include <cmath>

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/channel_affine.h"
#include "passes/pattern/linear_operator.h"

namespace rh::passes {

namespace {

constexpr size_t kMostFollowers = 16;  // that go into an operator at a time

/// An operator that scales or shifts the channels of a linear operator's output.
struct Follower {
  const Node* node = nullptr;
  ValueId input = kNoValue;  ///< the linear operator's output, or a view of it
  ChannelAffine affine;
};

bool is_finite(const ChannelAffine& affine) {
  const auto finite = [](double v) { return std::isfinite(v); };
  return std::ranges::all_of(affine.scale, finite) && std::ranges::all_of(affine.shift, finite);
}

class Scaler : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const auto op = linear_operator(graph_, graph_.node(id));
      if (!op || !only_user(graph_, *op->node) || !owns_weights(graph_, *op)) continue;
      std::vector<Follower> followers = followers_of(*op);
      const bool normalizes = !followers.empty() && is_op(*followers[0].node, "BatchNormalization");
      if (context_.for_tools && op->is_product() && !normalizes) continue;
      while (!followers.empty() && !fold(*op, followers)) followers.pop_back();
    }
    return rewrite_.take();
  }

 private:
  std::vector<Follower> followers_of(const LinearOperator& op) const {
    std::vector<Follower> followers;
    const TensorType& type = tensor_type(graph_, op.node->outputs[0]);
    ChannelValue x{op.weights->dtype(), op.is_product() ? type.rank() : op.weights->shape().rank(), op.outputs};
    if (op.is_product()) {
      if (!type.has_rank() || type.rank() == 0) return followers;
      x.axis = x.rank - 1;
    }
    const Node* last = op.node;
    for (const Node* user; (user = only_user(graph_, *last)) && is_only_output(graph_, *user); last = user) {
      if (followers.size() == kMostFollowers || (context_.for_tools && !is_basic(op, *user))) break;
      if (is_channel_affine(*user)) {
        const int position = user->inputs[0] == last->outputs[0] ? 0 : 1;
        auto affine = channel_affine(NodeView(graph_, *user), position, x);
        if (!affine || !is_finite(*affine) || shifts_gate(*user)) break;
        followers.push_back({user, last->outputs[0], std::move(*affine)});
      } else if (!follow_view(*user, x)) {
        break;
      }
    }
    return followers;
  }

  /// Whether ONNX Runtime folds it at its basic level: BatchNormalization, and behind Conv what Mul and Add have on their right.
  bool is_basic(const LinearOperator& op, const Node& user) const {
    if (is_op(user, "BatchNormalization")) return !is_op(*op.node, "Gemm");
    const bool is_product = is_op(user, "Mul");
    if (!is_op(*op.node, "Conv") || !(is_product || is_op(user, "Add")) || user.inputs[1] == kNoValue) return false;
    const Tensor* by = graph_.value(user.inputs[1]).constant_tensor();
    if (!by) return false;
    const int rank = by->shape().rank();
    return rank == 0 ? is_product : rank > 1 && by->elements() == op.outputs;
  }

  /// Add of one number before Clip: a hard sigmoid that is written out, which another pass makes one operator.
  bool shifts_gate(const Node& node) const {
    const Node* next = only_user(graph_, node);
    const bool is_number = constant_number(graph_, node.inputs[0]) || constant_number(graph_, node.inputs[1]);
    return is_op(node, "Add") && is_number && next && is_op(*next, "Clip");
  }

  /// Goes through a Transpose, and through views that keep the last axis where that has the channels.
  bool follow_view(const Node& node, ChannelValue& x) const {
    const TensorType &from = tensor_type(graph_, node.inputs[0]), &to = tensor_type(graph_, node.outputs[0]);
    if (!from.has_rank() || !to.has_rank() || from.rank() != x.rank || to.rank() == 0) return false;
    if (is_op(node, "Transpose")) {
      const auto perm = permutation(NodeView(graph_, node));
      const auto place = perm ? std::ranges::find(*perm, x.axis) - perm->begin() : x.rank;
      x.axis = static_cast<int>(place);
      return place < x.rank;
    }
    const bool keeps_last = from.dims->back().is_constant(x.channels) && to.dims->back().is_constant(x.channels);
    if (!is_view(node) || x.axis != x.rank - 1 || !keeps_last) return false;
    x.rank = to.rank();
    x.axis = x.rank - 1;
    return true;
  }

  bool fold(const LinearOperator& op, const std::vector<Follower>& followers) {
    const size_t channels = static_cast<size_t>(op.outputs);
    ChannelAffine affine{std::vector<double>(channels, 1.0), bias_values(op)};
    for (const Follower& follower : followers) append(affine, follower.affine);
    const bool scales = std::ranges::any_of(affine.scale, [](double v) { return v != 1.0; });
    const bool shifts = std::ranges::any_of(affine.shift, [](double v) { return v != 0.0; });
    // A product's own Add of a bias stays.
    if (!op.takes_bias() && followers.size() == 1 && !scales) return false;
    std::optional<Tensor> weights, bias;
    if (scales && !(weights = scaled_weights(op, affine.scale, {}))) return false;
    if ((shifts || op.bias) && !(bias = channel_parameters(op.weights->dtype(), affine.shift))) return false;
    if (!context_.admit()) return false;
    replace(op, followers, std::move(weights), std::move(bias));
    return true;
  }

  void replace(const LinearOperator& op, const std::vector<Follower>& followers, std::optional<Tensor> weights,
               std::optional<Tensor> bias) {
    const Node& last = *followers.back().node;
    ScaledOperator scaled{.input = rewrite_.current(op.node->inputs[0]),
                          .weights = std::move(weights),
                          .bias = std::move(bias),
                          .bias_name = graph_.value(last.outputs[0]).name + "_bias",
                          .sum_name = last.name,
                          .nodes = {op.node->id}};
    for (const Follower& follower : followers) scaled.nodes.push_back(follower.node->id);
    const ValueId made = add_scaled(graph_, rewrite_.edit(), op, std::move(scaled));
    // The last one first: what is made takes its name.
    for (auto follower = followers.rbegin(); follower != followers.rend(); ++follower) {
      rewrite_.replace_node(*follower->node, follower->input == op.node->outputs[0] ? made : follower->input);
    }
    rewrite_.replace_node(*op.node, made);
  }
};

}  // namespace

Edit fold_output_scale_into_weights(const Graph& graph, PassContext& context) { return Scaler(graph, context).run(); }

}  // namespace rh::passes
