// Pattern: Transpose of Transpose; Squeeze and Unsqueeze of the same axes; Reshape of a view; a view that gives the dimensions back that a
//   reduction dropped.
// Replacement: one Transpose, nothing, one Reshape, the reduction with `keepdims`.
// Not: a Reshape that copies dimensions of its input (0); axes or permutations that are not known.

#include <algorithm>

#include "ops/reduction/reduce.h"
#include "ops/tensor/reshape.h"
#include "ops/tensor/squeeze.h"
#include "ops/tensor/unsqueeze.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

// The axes, sorted and counted from the front; nothing where they are not known.
std::optional<std::vector<int64_t>> sorted_axes(std::optional<std::vector<int64_t>> axes, const TensorType& type) {
  if (!axes || !type.has_rank()) return std::nullopt;
  for (int64_t& axis : *axes) axis += axis < 0 ? type.rank() : 0;
  std::sort(axes->begin(), axes->end());
  return axes;
}

// Squeeze of Unsqueeze over the same axes, or the other way round.
bool undo_each_other(const Graph& graph, const Node& first, const Node& second) {
  const auto axes = [&](const Node& node) {
    const NodeView view(graph, node);
    if (is_op(node, "Squeeze")) return sorted_axes(ops::Squeeze::read(view).axes.values, tensor_type(graph, node.inputs[0]));
    return sorted_axes(ops::Unsqueeze::read(view).axes.values, tensor_type(graph, node.outputs[0]));
  };
  const bool opposite = (is_op(first, "Squeeze") && is_op(second, "Unsqueeze")) || (is_op(first, "Unsqueeze") && is_op(second, "Squeeze"));
  if (!opposite) return false;
  const auto a = axes(first), b = axes(second);
  return a && b && *a == *b;
}

class Merger : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& second = graph_.node(id);
      if (second.inputs.empty() || second.inputs[0] == kNoValue || !is_only_output(graph_, second)) continue;
      const Node* first = graph_.producer(second.inputs[0]);
      if (!first || first->inputs.empty() || first->inputs[0] == kNoValue || first->outputs.empty() || touched_.contains(first->id))
        continue;
      if (merge(*first, second)) touched_.insert(second.id);
    }
    return rewrite_.take();
  }

 private:
  bool merge(const Node& first, const Node& second) {
    if (is_op(first, "Transpose") && is_op(second, "Transpose")) return merge_transposes(first, second);
    if (is_view(second) && drops_dimensions(first)) return !context_.for_tools && keep_dimensions(first, second);
    if (is_op(second, "Reshape")) return skip_to_reshape(first, second);
    if (context_.for_tools || !undo_each_other(graph_, first, second)) return false;
    const ValueId value = rewrite_.current(first.inputs[0]);
    return rewrite_.can_replace(second.outputs[0], value) && context_.admit() && rewrite_.replace_node(second, value);
  }

  bool merge_transposes(const Node& first, const Node& second) {
    const auto p = permutation(NodeView(graph_, first)), q = permutation(NodeView(graph_, second));
    if (!p || !q || p->size() != q->size()) return false;
    std::vector<int64_t> perm;
    for (int64_t axis : *q) {
      if (axis < 0 || axis >= static_cast<int64_t>(p->size())) return false;
      perm.push_back((*p)[static_cast<size_t>(axis)]);
    }
    const ValueId value = rewrite_.current(first.inputs[0]);
    const bool cancels = std::ranges::is_sorted(perm);
    if (cancels && rewrite_.can_replace(second.outputs[0], value)) return context_.admit() && rewrite_.replace_node(second, value);
    if (!context_.admit()) return false;
    Node merged;
    merged.name = second.name;
    merged.op_type = "Transpose";
    merged.opset = second.opset;
    merged.inputs = {value};
    merged.outputs = {rewrite_.edit().add_value(graph_.value(second.outputs[0]).name, graph_.value(second.outputs[0]).type)};
    merged.attributes = {{"perm", std::move(perm)}};
    const ValueId output = merged.outputs[0];
    rewrite_.edit().add_node(std::move(merged), {first.id, second.id});
    return rewrite_.replace_node(second, output);
  }

  static bool drops_dimensions(const Node& node) { return node.domain.empty() && ops::Reduce::is_name(node.op_type); }

  // The dimensions that a reduction dropped, each as 1 where it was: passes that follow see which ones are left.
  bool keep_dimensions(const Node& first, const Node& second) {
    const NodeView view(graph_, first);
    const ops::Reduce op = ops::Reduce::read(view);
    const auto axes = op.axes_are_input && view.has_input(1) ? ops::IntsOperand::from_input(view, 1).values : op.axes;
    const TensorType &x = tensor_type(graph_, first.inputs[0]), &y = tensor_type(graph_, second.outputs[0]);
    if (op.keep_dims || !axes || axes->empty() || !x.has_rank() || !y.has_rank() || x.rank() != y.rank() ||
        only_user(graph_, first) != &second)
      return false;
    const auto reduced = op.reduced(*axes, x.rank());
    for (size_t i = 0; i < x.dims->size(); ++i)
      if (reduced[i] ? !(*y.dims)[i].is_constant(1) : (*x.dims)[i].is_unknown() || !((*x.dims)[i] == (*y.dims)[i])) return false;
    if (!context_.admit()) return false;
    Node kept = first;
    kept.id = kNoNode;
    kept.outputs.clear();
    std::erase_if(kept.attributes, [](const Attribute& attribute) { return attribute.name == "keepdims"; });
    kept.attributes.push_back({"keepdims", int64_t{1}});
    for (ValueId& input : kept.inputs) input = input == kNoValue ? kNoValue : rewrite_.current(input);
    rewrite_.replace_nodes(std::move(kept), second, {first.id, second.id});
    return true;
  }

  // A Reshape whose target says everything takes the elements from before other views of them.
  bool skip_to_reshape(const Node& first, const Node& second) {
    if (!is_view(first)) return false;
    if (context_.for_tools && !(is_op(first, "Reshape") && tensor_type(graph_, second.outputs[0]).is_static())) return false;
    const ops::Reshape op = ops::Reshape::read(NodeView(graph_, second));
    if (!op.shape.values) return false;
    const bool copies = !op.allow_zero && std::count(op.shape.values->begin(), op.shape.values->end(), 0) > 0;
    if (copies || !context_.admit()) return false;
    rewrite_.edit().set_input(second.id, 0, rewrite_.current(first.inputs[0]));
    return true;
  }

  std::unordered_set<NodeId> touched_;
};

}  // namespace

Edit merge_adjacent_views(const Graph& graph, PassContext& context) { return Merger(graph, context).run(); }

}  // namespace rh::passes
