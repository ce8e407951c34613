// Pattern: two Transposes with a view between them; a Transpose that moves dimensions of 1 alone.
// Replacement: one Transpose, with a view before and behind it where dimensions are taken apart; a view.
// Not: shapes that share no dimensions; where something else takes a value in between.

#include <algorithm>

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/axis_order.h"

namespace rh::passes {

namespace {

/// Two Transposes with a view between them as a view, a Transpose and a view.
struct Joined {
  SymbolicShape from;       ///< as which the input is read
  Permutation permutation;  ///< of those dimensions
  SymbolicShape to;         ///< what it gives

  bool moves() const { return !std::is_sorted(permutation.begin(), permutation.end()); }
};

/// `dims` are those of the first one's input, `between` those of the second one's.
std::optional<Joined> joined(const SymbolicShape& dims, const Permutation& first, const SymbolicShape& between, const Permutation& second) {
  SymbolicShape turned;
  for (int64_t axis : first) turned.push_back(dims[static_cast<size_t>(axis)]);
  const auto common = common_dims(turned, between);
  if (!common) return std::nullopt;
  std::vector<size_t> given, taken;  // common dimensions in the order of the input and of the result
  const auto add = [&](std::vector<size_t>& list, const std::vector<size_t>& places, int64_t dim) {
    const size_t i = static_cast<size_t>(dim);
    for (size_t at = places[i]; at < places[i + 1]; ++at) list.push_back(at);
  };
  for (int64_t axis : inverse(first)) add(given, common->from, axis);
  for (int64_t axis : second) add(taken, common->to, axis);
  // Those that stay together are one.
  std::vector<size_t> place(given.size()), starts;
  for (size_t i = 0; i < given.size(); ++i) place[given[i]] = i;
  Joined result;
  for (size_t i = 0; i < taken.size();) {
    const size_t begin = i, start = place[taken[i]];
    Dim size = common->dims[taken[i]];
    for (++i; i < taken.size() && place[taken[i]] == start + (i - begin); ++i) size = size * common->dims[taken[i]];
    starts.push_back(start);
    result.to.push_back(size);
  }
  result.from.resize(result.to.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto before = std::count_if(starts.begin(), starts.end(), [&](size_t start) { return start < starts[i]; });
    result.permutation.push_back(before);
    result.from[static_cast<size_t>(before)] = result.to[i];
  }
  return result;
}

class Joiner : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& second = graph_.node(id);
      if (!is_op(second, "Transpose") || become_view(second)) continue;
      const Node* view = graph_.producer(second.inputs[0]);
      const Node* first = view && is_view(*view) ? graph_.producer(view->inputs[0]) : nullptr;
      if (first && is_op(*first, "Transpose") && !rewrite_.is_removed(first->id)) join(*first, *view, second);
    }
    return rewrite_.take();
  }

 private:
  /// Where nothing but dimensions of 1 moves.
  bool become_view(const Node& transpose) {
    const auto permutation = permutation_of(NodeView(graph_, transpose));
    const TensorType &x = tensor_type(graph_, transpose.inputs[0]), &y = tensor_type(graph_, transpose.outputs[0]);
    if (!permutation || !x.has_rank() || !y.has_rank() || permutation->size() != x.dims->size()) return false;
    Permutation moved = *permutation;
    std::erase_if(moved, [&](int64_t axis) { return (*x.dims)[static_cast<size_t>(axis)].is_constant(1); });
    if (!std::ranges::is_sorted(moved) || !is_only_output(graph_, transpose) || !reshape_target(*x.dims, *y.dims)) return false;
    if (!context_.admit()) return false;
    return rewrite_.replace_node(transpose, viewed(transpose, rewrite_.current(transpose.inputs[0]), *x.dims, *y.dims));
  }

  void join(const Node& first, const Node& view, const Node& second) {
    if (only_user(graph_, first) != &view || only_user(graph_, view) != &second || !is_only_output(graph_, second)) return;
    const auto p = permutation_of(NodeView(graph_, first)), q = permutation_of(NodeView(graph_, second));
    const TensorType &x = tensor_type(graph_, first.inputs[0]), &between = tensor_type(graph_, second.inputs[0]);
    const TensorType& y = tensor_type(graph_, second.outputs[0]);
    if (!p || !q || !x.has_rank() || !between.has_rank() || !y.has_rank() || p->size() != x.dims->size() ||
        q->size() != between.dims->size())
      return;
    const auto found = joined(*x.dims, *p, *between.dims, *q);
    const bool can_view = found && (found->moves() ? reshape_target(*x.dims, found->from) && reshape_target(found->to, *y.dims)
                                                   : reshape_target(*x.dims, *y.dims).has_value());
    if (!can_view || !context_.admit()) return;
    ValueId value = rewrite_.current(first.inputs[0]);
    if (found->moves()) value = transposed(first, second, viewed(view, value, *x.dims, found->from), found->permutation);
    value = viewed(view, value, found->moves() ? found->to : *x.dims, *y.dims);
    if (value == rewrite_.current(first.inputs[0])) value = copy(second, value);
    rewrite_.replace_node(second, value);
    rewrite_.remove(view.id);
    rewrite_.remove(first.id);
  }

  ValueId add(Node made, ValueId named, std::vector<NodeId> nodes) {
    const ValueId output = rewrite_.edit().add_value(graph_.value(named).name);
    made.outputs = {output};
    rewrite_.edit().add_node(std::move(made), std::move(nodes));
    return output;
  }

  ValueId viewed(const Node& view, ValueId value, const SymbolicShape& from, const SymbolicShape& to) {
    if (from == to && !is_op(view, "Transpose")) return value;
    Node made;
    made.name = view.name;
    made.op_type = "Reshape";
    made.inputs = {value,
                   rewrite_.edit().add_constant(graph_.value(view.outputs[0]).name + "_shape", Tensor::ints(*reshape_target(from, to)))};
    return add(std::move(made), view.outputs[0], {view.id});
  }

  ValueId transposed(const Node& first, const Node& second, ValueId value, const Permutation& permutation) {
    Node made;
    made.name = second.name;
    made.op_type = "Transpose";
    made.inputs = {value};
    made.attributes = {{"perm", permutation}};
    return add(std::move(made), second.outputs[0], {first.id, second.id});
  }

  ValueId copy(const Node& second, ValueId value) {
    Node made;
    made.op_type = "Identity";
    made.inputs = {value};
    return add(std::move(made), second.outputs[0], {second.id});
  }
};

}  // namespace

Edit merge_transposes_across_views(const Graph& graph, PassContext& context) { return Joiner(graph, context).run(); }

}  // namespace rh::passes
