// Pattern: masks that are added to the scores of attention in a shape that takes queries and keys apart, as decomposed relative positions
//   are.
// Replacement: the sum of the masks in the scores' own shape, added to the scores.
// Not: where the masks together have not all dimensions of the scores; other uses in between.

#include <algorithm>
#include <ranges>

#include "ops/nn/softmax.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

/// Scores in another shape, to which masks are added, and back.
struct View {
  ValueId scores = kNoValue;
  ValueId whole = kNoValue;    ///< in that shape, with all masks
  std::vector<ValueId> masks;  ///< the last one first
  std::vector<NodeId> nodes;
  const Node* back = nullptr;
};

class Mover : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!is_op(node, "Softmax") || !is_of_attention(node)) continue;
      const auto view = match(node.inputs[0]);
      if (view && context_.admit()) replace(*view);
    }
    return rewrite_.take();
  }

 private:
  bool is_of_attention(const Node& softmax) const {
    const TensorType& type = tensor_type(graph_, softmax.inputs[0]);
    const Node* product = only_user(graph_, softmax);
    if (!type.has_rank() || !product || !is_op(*product, "MatMul") || product->inputs[0] != softmax.outputs[0]) return false;
    const int64_t axis = ops::Softmax::read(NodeView(graph_, softmax)).axis;
    return axis == -1 || axis == type.rank() - 1;
  }

  const Node* only_maker(ValueId value, std::string_view op_type) const {
    const Node* node = has_one_use(graph_.value(value)) ? graph_.producer(value) : nullptr;
    return node && is_op(*node, op_type) ? node : nullptr;
  }

  std::optional<View> match(ValueId value) const {
    const Node* back = only_maker(value, "Reshape");
    if (!back) return std::nullopt;
    View view{.whole = back->inputs[0], .back = back};
    ValueId at = view.whole;
    for (const Node* add; (add = only_maker(at, "Add")) && add->opset >= kBroadcastOpset; at = view.scores) {
      const size_t path = leads_to_scores(add->inputs[0]) ? 0 : 1;
      view.scores = add->inputs[path];
      view.masks.push_back(add->inputs[1 - path]);
      view.nodes.push_back(add->id);
      if (!have_same_type(graph_, view.scores, view.whole)) return std::nullopt;
    }
    const Node* apart = only_maker(at, "Reshape");
    if (view.masks.empty() || !apart || !have_same_type(graph_, apart->inputs[0], value) || !makes_scores(apart->inputs[0]))
      return std::nullopt;
    view.scores = apart->inputs[0];
    view.nodes.insert(view.nodes.end(), {apart->id, back->id});
    return masks_fill(view) ? std::optional(std::move(view)) : std::nullopt;
  }

  /// Whether the value is such a view of products, perhaps with masks.
  bool leads_to_scores(ValueId value) const {
    const Node* node = graph_.producer(value);
    while (node && is_op(*node, "Add")) {
      const Node* first = graph_.producer(node->inputs[0]);
      node = first && (is_op(*first, "Add") || is_op(*first, "Reshape")) ? first : graph_.producer(node->inputs[1]);
    }
    return node && is_op(*node, "Reshape") && makes_scores(node->inputs[0]);
  }

  /// Products, perhaps scaled.
  bool makes_scores(ValueId value) const {
    const Node* node = has_one_use(graph_.value(value)) ? graph_.producer(value) : nullptr;
    if (node && (is_op(*node, "Mul") || is_op(*node, "Div"))) {
      const Node* first = graph_.producer(node->inputs[0]);
      node = first && is_op(*first, "MatMul") ? first : graph_.producer(node->inputs[1]);
    }
    return node && is_op(*node, "MatMul");
  }

  /// Whether the sum of the masks has all the elements of the scores.
  bool masks_fill(const View& view) const {
    const TensorType& whole = tensor_type(graph_, view.whole);
    for (int i = 1; i <= whole.rank(); ++i) {
      const Dim& dim = whole.dims->end()[-i];
      const bool is_there = dim.is_constant(1) || std::ranges::any_of(view.masks, [&](ValueId mask) {
                              const TensorType& type = tensor_type(graph_, mask);
                              return type.has_rank() && type.rank() >= i && type.dims->end()[-i] == dim;
                            });
      if (!is_there) return false;
    }
    const auto fits = [&](ValueId mask) {
      return tensor_type(graph_, mask).has_rank() && tensor_type(graph_, mask).rank() <= whole.rank();
    };
    return std::ranges::all_of(view.masks, fits);
  }

  void replace(const View& view) {
    const Node& back = *view.back;
    ValueId sum = rewrite_.current(view.masks.back());
    for (const ValueId mask : view.masks | std::views::reverse | std::views::drop(1))
      sum = rewrite_.add_part(part_of(back, false, "Add", {sum, rewrite_.current(mask)}), back);
    Node shaped = part_of(back, false, "Reshape", {sum, rewrite_.current(back.inputs[1])});
    shaped.attributes = back.attributes;
    const ValueId masks = rewrite_.add_part(std::move(shaped), back);
    rewrite_.replace_nodes(part_of(back, true, "Add", {rewrite_.current(view.scores), masks}), back, view.nodes);
  }
};

}  // namespace

Edit merge_score_masks(const Graph& graph, PassContext& context) { return Mover(graph, context).run(); }

}  // namespace rh::passes
