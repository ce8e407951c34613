#include <algorithm>
#include <map>

#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rotated_halves.h"

namespace rh::passes {

namespace {

constexpr int kAnyAxisOpset = 13;  // in which the made Concat stands

/// x1 c - x2 s beside x2 c + x1 s, x1 and x2 being the halves of x.
struct Turned {
  ValueId x = kNoValue, first = kNoValue, second = kNoValue;
  ValueId cosines = kNoValue, sines = kNoValue;
  std::vector<NodeId> nodes;
};

class Matcher {
 public:
  Matcher(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
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
    const Node *difference = arithmetic(concat.inputs[0], "Sub"), *sum = arithmetic(concat.inputs[1], "Add");
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
      if (!is_sum || !are_halves(found)) continue;
      found.nodes = {concat.id, difference->id, sum->id, plus->id, minus->id, one->id, other->id};
      if (is_free(found, concat)) return found;
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

  /// Whether nothing else takes what is made on the way, or the halves.
  bool is_free(const Turned& found, const Node& concat) const {
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
    return is_closed(graph_, found.nodes, concat) && are_taken_inside(found.first) && are_taken_inside(found.second) &&
           have_same_type(graph_, found.x, concat.outputs[0]);
  }

  void replace(const Node& concat, const Turned& found) {
    const ValueId first = rewrite_.current(found.first), second = rewrite_.current(found.second);
    const ValueId negated = add(concat, "Neg", {second});
    const ValueId exchanged = add(concat, "Concat", {negated, first});
    const ValueId straight = add(concat, "Mul", {rewrite_.current(found.x), doubled(concat, found.cosines)});
    const ValueId crossed = add(concat, "Mul", {exchanged, doubled(concat, found.sines)});
    rewrite_.replace_nodes(made(concat, "Add", {straight, crossed}), concat, found.nodes);
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

  ValueId add(const Node& like, std::string_view op, std::vector<ValueId> inputs) {
    Node node = made(like, op, std::move(inputs));
    const ValueId result = rewrite_.edit().add_value(graph_.value(like.outputs[0]).name + "_" + std::string(op));
    node.outputs = {result};
    rewrite_.edit().add_node(std::move(node), {like.id});
    return result;
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
  std::map<ValueId, ValueId> doubled_;
};

}  // namespace

/// Rotary embeddings half by half, [x1 c - x2 s, x2 c + x1 s], become x [c, c] + [-x2, x1] [s, s], of which fused_elementwise makes one
/// operator.
Edit rotary_forms(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
