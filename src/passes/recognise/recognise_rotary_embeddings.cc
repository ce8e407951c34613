// Pattern: rotary embeddings half by half, [x1 c - x2 s, x2 c + x1 s], or pair by pair, where x1 and x2 are neighbours.
// Replacement: x [c, c] + [-x2, x1] [s, s], of which fuse_elementwise makes one operator.
// Not: parts that are not the two halves, or not all pairs, of one value; where something else takes a value in between.

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "ops/tensor/concat.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/rotated_halves.h"

namespace rh::passes {

namespace {

constexpr int kAnyAxisOpset = 13;  // in which the made Concat stands
constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

/// x1 c - x2 s beside x2 c + x1 s, x1 and x2 being the halves of x, or neighbours in x, which may have a dimension of their own.
struct Turned {
  ValueId x = kNoValue, first = kNoValue, second = kNoValue;
  bool has_own_dimension = false;
  ValueId cosines = kNoValue, sines = kNoValue;
  std::vector<NodeId> nodes;
};

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (is_view(node)) {
        const auto found = turned_pairs(node);
        if (found && context_.admit()) replace_pairs(node, *found);
        continue;
      }
      const auto found = is_op(node, "Concat") ? turned(node) : std::nullopt;
      if (found && context_.admit()) replace(node, *found);
    }
    return rewrite_.take();
  }

 private:
  const Node* arithmetic(ValueId value, std::string_view op) const {
    const Node* node = graph_.producer(value);
    return node && is_op(*node, op) && node->opset >= kBroadcastOpset ? node : nullptr;
  }

  std::optional<Turned> turned(const Node& concat) const {
    if (concat.inputs.size() != 2 || !is_floating(tensor_type(graph_, concat.outputs[0]).dtype)) return std::nullopt;
    auto found = turned_parts(concat.inputs[0], concat.inputs[1], [&](Turned& parts) { return are_halves(parts); });
    if (!found || !have_same_type(graph_, found->x, concat.outputs[0])) return std::nullopt;
    found->nodes.insert(found->nodes.begin(), concat.id);
    return is_free(*found, concat) ? std::move(found) : std::nullopt;
  }

  /// x1 c - x2 s and x2 c + x1 s side by side in a last dimension of two, of which `view` makes one with the dimension before.
  std::optional<Turned> turned_pairs(const Node& view) const {
    const Node* concat = has_one_use(graph_.value(view.inputs[0])) ? graph_.producer(view.inputs[0]) : nullptr;
    if (!concat || !is_op(*concat, "Concat") || concat->inputs.size() != 2) return std::nullopt;
    const TensorType &pairs = tensor_type(graph_, view.inputs[0]), &joined = tensor_type(graph_, view.outputs[0]);
    if (!is_floating(pairs.dtype) || !pairs.has_rank() || !joined.has_rank() || !joins_pairs(*pairs.dims, *joined.dims))
      return std::nullopt;
    const int64_t axis = ops::Concat::read(NodeView(graph_, *concat)).axis;
    if (axis != -1 && axis != pairs.rank() - 1) return std::nullopt;
    std::vector<NodeId> columns;
    const ValueId left = column_of(concat->inputs[0], columns), right = column_of(concat->inputs[1], columns);
    auto found = turned_parts(left, right, [&](Turned& parts) { return are_neighbours(parts, view, left); });
    if (!found) return std::nullopt;
    found->nodes.insert(found->nodes.begin(), {view.id, concat->id});
    found->nodes.insert(found->nodes.end(), columns.begin(), columns.end());
    return is_free(*found, view) ? std::move(found) : std::nullopt;
  }

  static bool joins_pairs(const SymbolicShape& pairs, const SymbolicShape& joined) {
    if (pairs.size() != joined.size() + 1 || joined.empty()) return false;
    const Dim& half = pairs[pairs.size() - 2];
    return pairs.back().is_constant(2) && half.is_constant() && joined.back().is_constant(2 * half.value()) &&
           std::equal(joined.begin(), joined.end() - 1, pairs.begin());
  }

  /// What a view shows with a last dimension of 1; the value itself where it is no such view.
  ValueId column_of(ValueId value, std::vector<NodeId>& nodes) const {
    const Node* view = graph_.producer(value);
    if (!view || !is_view(*view)) return value;
    const TensorType &from = tensor_type(graph_, view->inputs[0]), &to = tensor_type(graph_, value);
    const bool adds_last = from.has_rank() && to.has_rank() && to.rank() == from.rank() + 1 && to.dims->back().is_constant(1) &&
                           std::equal(from.dims->begin(), from.dims->end(), to.dims->begin());
    if (!adds_last) return value;
    nodes.push_back(view->id);
    return view->inputs[0];
  }

  /// Whether the parts are the first and second of pairs in what has the type of the view's result, or of its input; `part` is one of what
  /// is made of them.
  bool are_neighbours(Turned& found, const Node& view, ValueId part) const {
    const Alternate first = alternate_of(graph_, found.first), second = alternate_of(graph_, found.second);
    if (first.x == kNoValue || first.x != second.x || first.index != 0 || second.index != 1 ||
        first.has_own_dimension != second.has_own_dimension || !have_same_type(graph_, found.first, part))
      return false;
    found.x = first.x;
    found.has_own_dimension = first.has_own_dimension;
    if (!have_same_type(graph_, found.x, found.has_own_dimension ? view.inputs[0] : view.outputs[0])) return false;
    const Dim& joined = tensor_type(graph_, view.outputs[0]).dims->back();
    return is_of_pairs(found.cosines, joined.value() / 2, has_column(part, view)) &&
           is_of_pairs(found.sines, joined.value() / 2, has_column(part, view));
  }

  /// Whether the part has a last dimension of 1.
  bool has_column(ValueId part, const Node& view) const {
    return tensor_type(graph_, part).rank() == tensor_type(graph_, view.inputs[0]).rank();
  }

  bool is_of_pairs(ValueId id, int64_t pairs, bool has_column) const {
    const TensorType& type = tensor_type(graph_, id);
    const int places = has_column ? 2 : 1;
    return type.has_rank() && type.rank() >= places && type.dims->end()[-places].is_constant(pairs) &&
           (!has_column || type.dims->back().is_constant(1));
  }

  template <typename Accepts>
  std::optional<Turned> turned_parts(ValueId left, ValueId right, const Accepts& accepts) const {
    const Node *difference = arithmetic(left, "Sub"), *sum = arithmetic(right, "Add");
    if (!difference || !sum) return std::nullopt;
    const Node *plus = arithmetic(difference->inputs[0], "Mul"), *minus = arithmetic(difference->inputs[1], "Mul");
    const Node *one = arithmetic(sum->inputs[0], "Mul"), *other = arithmetic(sum->inputs[1], "Mul");
    if (!plus || !minus || !one || !other) return std::nullopt;
    for (size_t i = 0; i < 4; ++i) {
      Turned found;
      found.first = plus->inputs[i & 1];
      found.second = minus->inputs[i >> 1];
      found.cosines = other_input(*plus, found.first);
      found.sines = other_input(*minus, found.second);
      const bool is_sum = (multiplies(*one, found.second, found.cosines) && multiplies(*other, found.first, found.sines)) ||
                          (multiplies(*other, found.second, found.cosines) && multiplies(*one, found.first, found.sines));
      if (!is_sum || !accepts(found)) continue;
      found.nodes = {difference->id, sum->id, plus->id, minus->id, one->id, other->id};
      return found;
    }
    return std::nullopt;
  }

  static bool multiplies(const Node& product, ValueId a, ValueId b) {
    return (product.inputs[0] == a && product.inputs[1] == b) || (product.inputs[0] == b && product.inputs[1] == a);
  }

  bool are_halves(Turned& found) const {
    const Half first = half_of(graph_, found.first), second = half_of(graph_, found.second);
    if (!first.node || !second.node || first.x != second.x || first.start != 0) return false;
    const Dim& size = tensor_type(graph_, first.x).dims->back();
    const auto is_half = [&](ValueId id) {
      const TensorType& type = tensor_type(graph_, id);
      return type.has_rank() && type.rank() > 0 && type.dims->back().is_constant(size.value() / 2);
    };
    found.x = first.x;
    return 2 * second.start == size.value() && is_half(found.cosines) && is_half(found.sines);
  }

  /// Whether nothing else takes what is made on the way, or the halves or neighbours.
  bool is_free(const Turned& found, const Node& last) const {
    const auto is_inside = [&](NodeId id) { return std::find(found.nodes.begin(), found.nodes.end(), id) != found.nodes.end(); };
    const auto are_taken_inside = [&](ValueId id) {
      const GraphValue& value = graph_.value(id);
      return !value.is_output && std::all_of(value.consumers.begin(), value.consumers.end(), is_inside);
    };
    const auto comes_from_outside = [&](ValueId id) {
      const Node* node = graph_.producer(id);
      return !node || !is_inside(node->id);
    };
    if (!comes_from_outside(found.cosines) || !comes_from_outside(found.sines)) return false;
    return is_closed(graph_, found.nodes, last) && are_taken_inside(found.first) && are_taken_inside(found.second);
  }

  void replace(const Node& concat, const Turned& found) {
    const ValueId first = rewrite_.current(found.first), second = rewrite_.current(found.second);
    const ValueId negated = add(concat, "Neg", {second});
    const ValueId exchanged = add(concat, "Concat", {negated, first});
    const ValueId straight = add(concat, "Mul", {rewrite_.current(found.x), doubled(concat, found.cosines)});
    const ValueId crossed = add(concat, "Mul", {exchanged, doubled(concat, found.sines)});
    rewrite_.replace_nodes(made(concat, "Add", {straight, crossed}), concat, found.nodes);
  }

  void replace_pairs(const Node& view, const Turned& found) {
    ValueId x = rewrite_.current(found.x);
    if (found.has_own_dimension) x = seen_as(view, view, x);
    const ValueId negated = add(view, "Neg", {alternate(view, x, 1)}), even = alternate(view, x, 0);
    const ValueId exchanged = seen_as(view, view, add(view, "Concat", {as_column(view, negated), as_column(view, even)}));
    const ValueId straight = add(view, "Mul", {x, repeated(view, found, found.cosines)});
    const ValueId crossed = add(view, "Mul", {exchanged, repeated(view, found, found.sines)});
    rewrite_.replace_nodes(made(view, "Add", {straight, crossed}), view, found.nodes);
  }

  /// Every second element of the last dimension.
  ValueId alternate(const Node& like, ValueId x, int64_t first) {
    return add(like, "Slice", {x, ints({first}), ints({kToTheEnd}), ints({-1}), ints({2})});
  }

  ValueId as_column(const Node& like, ValueId x) { return add(like, "Unsqueeze", {x, ints({-1})}); }

  /// As the view shows its own input.
  ValueId seen_as(const Node& view, const Node& like, ValueId x) {
    Node node = made(like, view.op_type, {x});
    node.opset = view.opset;
    node.attributes = view.attributes;
    for (size_t i = 1; i < view.inputs.size(); ++i)
      node.inputs.push_back(view.inputs[i] == kNoValue ? kNoValue : rewrite_.current(view.inputs[i]));
    return add(like, std::move(node));
  }

  /// Each number twice; once made for all that take them.
  ValueId repeated(const Node& view, const Turned& found, ValueId id) {
    const bool column = has_column(found.first, view);
    const ValueId numbers = rewrite_.current(id);
    const auto [at, is_new] = repeated_.try_emplace({numbers, column}, kNoValue);
    if (!is_new) return at->second;
    const TensorType& type = tensor_type(graph_, id);
    const ValueId one = column ? numbers : as_column(view, numbers);
    std::vector<int64_t> shape(static_cast<size_t>(type.rank() - (column ? 2 : 1)), 0);
    shape.push_back(2 * type.dims->end()[column ? -2 : -1].value());
    return at->second = add(view, "Reshape", {add(view, "Concat", {one, one}), ints(std::move(shape))});
  }

  ValueId ints(std::vector<int64_t> values) {
    const auto [at, is_new] = ints_.try_emplace(std::move(values), kNoValue);
    if (is_new) at->second = rewrite_.edit().add_constant("rotary_" + std::to_string(ints_.size()), Tensor::ints(at->first));
    return at->second;
  }

  /// The numbers twice, one after the other; once made for all that take them.
  ValueId doubled(const Node& like, ValueId id) {
    const auto [at, is_new] = doubled_.try_emplace(rewrite_.current(id), kNoValue);
    if (is_new) at->second = add(like, "Concat", {at->first, at->first});
    return at->second;
  }

  static Node made(const Node& like, std::string_view op, std::vector<ValueId> inputs) {
    Node node;
    node.name = like.name;
    node.op_type = op;
    node.opset = std::max(like.opset, kAnyAxisOpset);
    node.inputs = std::move(inputs);
    if (op == "Concat") node.attributes.push_back({"axis", int64_t{-1}});
    return node;
  }

  ValueId add(const Node& like, std::string_view op, std::vector<ValueId> inputs) { return add(like, made(like, op, std::move(inputs))); }

  ValueId add(const Node& like, Node node) {
    const ValueId result = rewrite_.edit().add_value(graph_.value(like.outputs[0]).name + "_" + node.op_type);
    node.outputs = {result};
    rewrite_.edit().add_node(std::move(node), {like.id});
    return result;
  }

  std::map<ValueId, ValueId> doubled_;
  std::map<std::pair<ValueId, bool>, ValueId> repeated_;  ///< by the numbers, and whether their last dimension is a column's
  std::map<std::vector<int64_t>, ValueId> ints_;
};

}  // namespace

Edit recognise_rotary_embeddings(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
