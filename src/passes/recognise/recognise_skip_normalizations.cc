// Pattern: LayerNormalization or RMSNormalization, over the last dimension, of the sum of two values of one shape; a vector may be added
//   to one of them before.
// Replacement: SkipLayerNormalization or SkipSimplifiedLayerNormalization of com.microsoft, which gives the sum where something takes it.
// Not: values of other than two or three dimensions; a mean or a deviation that something takes; sums that broadcast; a scale or a shift
//   that a node makes, or that is no vector of the last dimension.

#include <algorithm>
#include <optional>
#include <utility>

#include "ops/nn/normalization.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr size_t kSumOutput = 3;  // of the fused operators

/// The sum that is normalised: x + skip, or x + bias + skip.
struct SkipSum {
  const Node* node = nullptr;
  const Node* biased = nullptr;  ///< adds the bias to x for this sum alone; null without a bias
  ValueId x = kNoValue, skip = kNoValue, bias = kNoValue;
};

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    return visit_nodes([&](const Node& node) {
      if (!is_op(node, "LayerNormalization") && !is_op(node, "RMSNormalization")) return;
      if (const auto sum = match(node); sum && context_.admit()) replace(node, *sum);
    });
  }

 private:
  std::optional<SkipSum> match(const Node& norm) const {
    const ValueId input = norm.inputs[0];
    const Node* node = graph_.producer(input);
    const TensorType& type = tensor_type(graph_, input);
    const bool is_float = type.dtype == DType::float32 || type.dtype == DType::float16 || type.dtype == DType::bfloat16;
    if (!is_float || !type.has_rank() || type.rank() < 2 || type.rank() > 3 || !is_only_output(graph_, norm)) return std::nullopt;
    const auto op = ops::LayerNormalization::read(NodeView(graph_, norm));
    const bool is_over_last = op.axis == -1 || op.axis == type.rank() - 1;
    if (!is_over_last || op.stash_type != DType::float32 || !has_given_parameters(norm)) return std::nullopt;
    if (!node || !is_addition(*node) || rewrite_.is_removed(node->id) || !have_same_type(graph_, node->inputs[0], node->inputs[1]))
      return std::nullopt;
    SkipSum sum{.node = node, .x = node->inputs[0], .skip = node->inputs[1]};
    if (!take_bias(sum, 0)) take_bias(sum, 1);
    return sum;
  }

  /// Scale and bias are vectors that no node makes, perhaps of the sum itself.
  bool has_given_parameters(const Node& norm) const {
    return std::all_of(norm.inputs.begin() + 1, norm.inputs.end(), [&](ValueId parameter) {
      return parameter == kNoValue || (!graph_.producer(parameter) && is_vector_of(parameter, norm.inputs[0]));
    });
  }

  static bool is_addition(const Node& node) { return is_op(node, "Add") && node.opset >= kBroadcastOpset && node.inputs.size() == 2; }

  /// Whether the value holds one number for each element of the other's last dimension.
  bool is_vector_of(ValueId vector, ValueId value) const {
    const TensorType &type = tensor_type(graph_, vector), &of = tensor_type(graph_, value);
    return type.dtype == of.dtype && type.has_rank() && type.rank() == 1 && type.dims->back() == of.dims->back();
  }

  /// Goes behind the vector that is added to the operand `i` of the sum, where that is so.
  bool take_bias(SkipSum& sum, size_t i) const {
    const ValueId operand = sum.node->inputs[i];
    const Node* added = graph_.producer(operand);
    if (!added || !is_addition(*added) || rewrite_.is_removed(added->id) || only_user(graph_, *added) != sum.node) return false;
    for (size_t k = 0; k < 2; ++k) {
      const ValueId bias = added->inputs[k], x = added->inputs[1 - k];
      if (!have_same_type(graph_, x, operand) || !is_vector_of(bias, operand)) continue;
      sum.biased = added;
      sum.x = x;
      sum.bias = bias;
      sum.skip = sum.node->inputs[1 - i];
      return true;
    }
    return false;
  }

  void replace(const Node& norm, const SkipSum& sum) {
    const auto op = ops::LayerNormalization::read(NodeView(graph_, norm));
    const auto current = [&](ValueId id) { return id == kNoValue ? kNoValue : rewrite_.current(id); };
    Node fused;
    fused.name = norm.name;
    fused.op_type = op.rms ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization";
    fused.domain = "com.microsoft";
    fused.opset = 1;
    fused.attributes = {{"epsilon", op.epsilon}};
    fused.inputs = {current(sum.x), current(sum.skip), current(norm.inputs[1])};
    if (!op.rms) fused.inputs.push_back(norm.inputs.size() > 2 ? current(norm.inputs[2]) : kNoValue);
    fused.inputs.push_back(current(sum.bias));
    while (fused.inputs.back() == kNoValue) fused.inputs.pop_back();

    std::vector<NodeId> nodes{norm.id, sum.node->id};
    if (sum.biased) nodes.push_back(sum.biased->id);
    Edit& edit = rewrite_.edit();
    const auto stand_in = [&](ValueId id) { return edit.add_value(graph_.value(id).name, graph_.value(id).type); };
    const ValueId y = norm.outputs[0], total = sum.node->outputs[0];
    fused.outputs = {stand_in(y)};
    const bool is_taken = !has_one_use(graph_.value(total));
    if (is_taken) {
      fused.outputs.resize(kSumOutput, kNoValue);
      fused.outputs.push_back(stand_in(total));
    }
    const std::vector<ValueId> outputs = fused.outputs;
    edit.add_node(std::move(fused), nodes);
    rewrite_.replace(y, outputs[0]);
    if (is_taken) rewrite_.replace(total, outputs[kSumOutput]);
    for (const NodeId id : nodes) rewrite_.remove(id);
  }
};

}  // namespace

Edit recognise_skip_normalizations(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
