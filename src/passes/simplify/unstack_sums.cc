// Pattern: ReduceSum or ReduceMean, over the one new dimension, of float values that Unsqueeze and Concat stack.
// Replacement: Adds of the values and, for the mean, a Mul.
// Not: more than 32 values; other types; a reduction that keeps the dimension or takes further ones.

#include <algorithm>

#include "ops/ints_operand.h"
#include "ops/reduction/reduce.h"
#include "ops/tensor/concat.h"
#include "ops/tensor/unsqueeze.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr size_t kMostTerms = 32;  // more are read once where they lie side by side, not by pairs

/// Values of one type that are laid side by side along a dimension of their own, which is then added up.
struct StackedSum {
  std::vector<ValueId> terms;
  std::vector<NodeId> nodes;  ///< that nothing else needs
  bool is_mean = false;
};

class Adder : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    return visit_nodes([&](const Node& node) {
      const auto sum = match(node);
      if (sum && context_.admit()) replace(node, *sum);
    });
  }

 private:
  std::optional<StackedSum> match(const Node& node) const {
    const bool is_mean = is_op(node, "ReduceMean");
    if ((!is_mean && !is_op(node, "ReduceSum")) || !is_only_output(graph_, node)) return std::nullopt;
    const TensorType& y = tensor_type(graph_, node.outputs[0]);
    const Node* concat = graph_.producer(node.inputs[0]);
    if (y.dtype != DType::float32 || !y.has_rank() || !concat || !is_op(*concat, "Concat") || concat->opset < kBroadcastOpset)
      return std::nullopt;
    const int64_t rank = y.rank() + 1;
    const int64_t axis = from_start(ops::Concat::read(NodeView(graph_, *concat)).axis, rank);
    if (!reduces_alone(node, axis, rank) || concat->inputs.size() < 2 || concat->inputs.size() > kMostTerms) return std::nullopt;
    StackedSum sum{.is_mean = is_mean};
    if (has_one_use(graph_.value(concat->outputs[0]))) sum.nodes.push_back(concat->id);
    for (const ValueId part : concat->inputs) {
      const Node* unsqueeze = graph_.producer(part);
      if (!unsqueeze || !is_op(*unsqueeze, "Unsqueeze") || !have_same_type(graph_, unsqueeze->inputs[0], node.outputs[0]))
        return std::nullopt;
      const auto axes = ops::Unsqueeze::read(NodeView(graph_, *unsqueeze)).axes.values;
      if (!axes || axes->size() != 1 || from_start(axes->front(), rank) != axis) return std::nullopt;
      sum.terms.push_back(unsqueeze->inputs[0]);
      if (!sum.nodes.empty() && has_one_use(graph_.value(part))) sum.nodes.push_back(unsqueeze->id);
    }
    return sum;
  }

  static int64_t from_start(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

  /// Whether the one dimension is reduced, and left out.
  bool reduces_alone(const Node& node, int64_t axis, int64_t rank) const {
    const NodeView view(graph_, node);
    const ops::Reduce op = ops::Reduce::read(view);
    const auto axes = op.axes_are_input ? ops::IntsOperand::from_input(view, 1).values : op.axes;
    return !op.keep_dims && axes && axes->size() == 1 && from_start(axes->front(), rank) == axis;
  }

  void replace(const Node& node, const StackedSum& stacked) {
    ValueId sum = rewrite_.current(stacked.terms.front());
    for (size_t i = 1; i < stacked.terms.size(); ++i)
      sum = rewrite_.add_part(part_of(node, false, "Add", {sum, rewrite_.current(stacked.terms[i])}), node);
    if (stacked.is_mean) {
      Tensor share(DType::float32, Shape{});
      *share.data<float>() = 1 / static_cast<float>(stacked.terms.size());
      const ValueId factor = rewrite_.edit().add_constant(graph_.value(node.outputs[0]).name + "_share", std::move(share));
      sum = rewrite_.add_part(part_of(node, true, "Mul", {sum, factor}), node);
    }
    rewrite_.replace_node(node, sum);
    for (const NodeId id : stacked.nodes) rewrite_.remove(id);
  }
};

}  // namespace

Edit unstack_sums(const Graph& graph, PassContext& context) { return Adder(graph, context).run(); }

}  // namespace rh::passes
