// Pattern: element-wise operators in a row, and trees of them, of one shape, whose results go nowhere else.
// Replacement: FusedElementwise, a tile at a time; the exchanged halves or neighbours of rotary embeddings are read where they lie.
// Not: fewer than 64 elements; more steps or inputs than the operator has; more than four inputs of the whole shape.

#include "ops/math/fused_elementwise.h"

#include <algorithm>

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/rotated_halves.h"
#include "tensor/dispatch.h"

namespace rh::passes {

namespace {

using Op = ops::FusedElementwise;

// Below so many elements nothing is saved.
constexpr int64_t kMinElements = 64;

// Inputs of the output's shape, which stay in memory until the joined operator runs: more would cost what joining saves.
constexpr size_t kMaxWholeInputs = 4;

// Up to so many elements a node's own time counts, not what its inputs and outputs take of memory.
constexpr int64_t kFewElements = 4096;

// Rank of the values that other passes lay out anew, which take nodes of one output alone.
constexpr int kPlanesRank = 4;

/// Nodes that become one, which gives what the root does, the last of them in the graph's order, and what others have left to give.
struct Group {
  NodeId root;
  std::vector<NodeId> nodes;
  std::unordered_set<NodeId> members;

  void add(std::span<const NodeId> more) {
    nodes.insert(nodes.end(), more.begin(), more.end());
    members.insert(more.begin(), more.end());
  }
  void drop(size_t count) {
    for (; count > 0; --count) {
      members.erase(nodes.back());
      nodes.pop_back();
    }
  }
};

/// What a group takes from outside.
struct Inputs {
  std::vector<ValueId> numbers, conditions;
  std::unordered_map<ValueId, RotatedHalves> rotated;  ///< numbers that are made of another value's halves
  size_t steps = 0;
};

bool add_once(std::vector<ValueId>& list, ValueId id) {
  const bool is_new = std::find(list.begin(), list.end(), id) == list.end();
  if (is_new) list.push_back(id);
  return is_new;
}

class Joiner : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    position_.resize(static_cast<size_t>(graph_.node_slots()));
    for (size_t i = 0; i < order.size(); ++i) position_[static_cast<size_t>(order[i])] = i;
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      if (rewrite_.is_removed(*id) || !step_of(graph_.node(*id))) continue;
      Group group = grown(graph_.node(*id));
      if (group.nodes.size() > 1 && context_.admit()) join(group);
    }
    return rewrite_.take();
  }

 private:
  bool is_square(const Node& node) const {
    return is_op(node, "Pow") && node.opset >= kBroadcastOpset && constant_number(graph_, node.inputs[1]) == 2.0 &&
           have_same_type(graph_, node.inputs[0], node.outputs[0]);
  }

  /// The inputs that are numbers: not Where's condition, nor Clip's bounds and Pow's exponent, which the step holds.
  static std::span<const ValueId> numbers(const Node& node) {
    const std::span<const ValueId> inputs = node.inputs;
    if (node.op_type == "Where") return inputs.subspan(1);
    return node.op_type == "Clip" || node.op_type == "Pow" ? inputs.first(1) : inputs;
  }

  /// The element type that the node works on; undefined where it is none that is joined.
  DType number_type(const Node& node) const {
    const std::span<const ValueId> operands = numbers(node);
    const DType dtype = tensor_type(graph_, operands[0]).dtype;
    const auto is_same = [&](ValueId id) { return tensor_type(graph_, id).dtype == dtype; };
    return std::all_of(operands.begin(), operands.end(), is_same) && FloatingTypes::set.contains(dtype) ? dtype : DType::undefined;
  }

  /// The step that the node can be; nothing where it cannot be joined.
  std::optional<Op::Step> step_of(const Node& node) const {
    if (!node.domain.empty() || node.outputs.size() != 1 || node.inputs.empty()) return std::nullopt;
    const auto step = is_square(node) ? Op::Step{Op::Function::mul, {}} : Op::of(NodeView(graph_, node));
    const TensorType& type = tensor_type(graph_, node.outputs[0]);
    if (!step || !type.has_rank() || (type.is_static() && type.shape().elements() < kMinElements)) return std::nullopt;
    const DType dtype = number_type(node);
    const size_t count = numbers(node).size();
    const bool lacks_operands = !is_square(node) && Op::operand_count(step->function) == 2 && count < 2;
    // The bounds of doubles are kept as floats.
    const bool is_rounded = step->function == Op::Function::clip && dtype == DType::float64;
    if (dtype == DType::undefined || lacks_operands || is_rounded) return std::nullopt;
    return step;
  }

  /// The root with all nodes whose results nothing but the group takes, and where there are few elements, such as are needed later as well.
  Group grown(const Node& root) const {
    Group group{root.id, {root.id}, {root.id}};
    for (size_t i = 0; i < group.nodes.size(); ++i) {
      for (ValueId input : graph_.node(group.nodes[i]).inputs) {
        const Node* node = graph_.producer(input);
        if (!node || group.members.contains(node->id)) continue;
        const std::vector<NodeId> found = with_users(*node, root, group);
        if (found.empty()) continue;
        group.add(found);
        if (!is_within_limits(group, root)) group.drop(found.size());
      }
    }
    return group;
  }

  /// Whether the node can do its part of what gives the root's result.
  bool belongs(const Node& node, const Node& root) const {
    return !rewrite_.is_removed(node.id) && step_of(node) && number_type(node) == number_type(root) &&
           *tensor_type(graph_, node.outputs[0]).dims == *tensor_type(graph_, root.outputs[0]).dims;
  }

  bool has_few_elements(const Node& root) const {
    const TensorType& type = tensor_type(graph_, root.outputs[0]);
    return type.is_static() && type.shape().elements() <= kFewElements;
  }

  /// The node, and those that take its result before the root's is there; nothing where one of them does not belong to the group. Results
  /// that others take, all of them later, become further outputs.
  std::vector<NodeId> with_users(const Node& node, const Node& root, const Group& group) const {
    const bool may_go_elsewhere = has_few_elements(root) && tensor_type(graph_, root.outputs[0]).rank() != kPlanesRank;
    std::vector<NodeId> found{node.id};
    for (size_t i = 0; i < found.size(); ++i) {
      const Node& next = graph_.node(found[i]);
      if (found.size() > Op::kMaxSteps || !belongs(next, root)) return {};
      bool goes_elsewhere = graph_.value(next.outputs[0]).is_output;
      for (NodeId user : graph_.value(next.outputs[0]).consumers) {
        if (group.members.contains(user) || std::ranges::find(found, user) != found.end()) continue;
        const bool is_later = place_of(user) > place_of(root.id);
        goes_elsewhere |= is_later;
        if (!is_later) found.push_back(user);
      }
      const bool is_boolean = tensor_type(graph_, next.outputs[0]).dtype == DType::boolean;
      if ((goes_elsewhere && is_boolean) || ((goes_elsewhere || found.size() > 1) && !may_go_elsewhere)) return {};
    }
    return found;
  }

  size_t place_of(NodeId id) const { return position_[static_cast<size_t>(id)]; }

  /// Whether something outside the group takes what the node gives.
  bool goes_elsewhere(const Node& node, const Group& group) const {
    const GraphValue& value = graph_.value(node.outputs[0]);
    return value.is_output || std::ranges::any_of(value.consumers, [&](NodeId id) { return !group.members.contains(id); });
  }

  bool is_outside(ValueId id, const Group& group) const {
    const Node* node = graph_.producer(id);
    return !node || !group.members.contains(node->id);
  }

  /// Halves that the group alone takes in turn, of a value of its shape.
  std::optional<RotatedHalves> rotated_within(ValueId id, const Group& group) const {
    const GraphValue& value = graph_.value(id);
    const auto is_inside = [&](NodeId node) { return group.members.contains(node); };
    if (value.is_output || !std::all_of(value.consumers.begin(), value.consumers.end(), is_inside)) return std::nullopt;
    if (!have_same_type(graph_, id, graph_.node(group.root).outputs[0])) return std::nullopt;
    auto halves = rotated_halves(graph_, id);
    return halves ? std::move(halves) : rotated_pairs(graph_, id);
  }

  Inputs inputs_of(const Group& group) const {
    Inputs inputs;
    for (NodeId id : group.nodes) {
      const Node& node = graph_.node(id);
      for (ValueId value : numbers(node)) {
        if (!is_outside(value, group) || !add_once(inputs.numbers, value)) continue;
        auto halves = rotated_within(value, group);
        const bool is_alike = halves && (inputs.rotated.empty() || inputs.rotated.begin()->second.are_pairs == halves->are_pairs);
        if (is_alike) inputs.rotated.emplace(value, std::move(*halves));
      }
      if (node.op_type == "Where" && is_outside(node.inputs[0], group)) add_once(inputs.conditions, node.inputs[0]);
      inputs.steps += std::max<size_t>(numbers(node).size(), 2) - 1;
    }
    return inputs;
  }

  bool is_within_limits(const Group& group, const Node& root) const {
    const Inputs inputs = inputs_of(group);
    const auto is_whole = [&](ValueId id) { return have_same_type(graph_, id, root.outputs[0]); };
    const auto whole = std::count_if(inputs.numbers.begin(), inputs.numbers.end(), is_whole);
    return inputs.steps <= Op::kMaxSteps && inputs.numbers.size() + inputs.conditions.size() <= Op::kMaxInputs &&
           (static_cast<size_t>(whole) <= kMaxWholeInputs || has_few_elements(root));
  }

  void join(Group& group) {
    const Node& root = graph_.node(group.root);
    std::ranges::sort(group.nodes, {}, [&](NodeId id) { return place_of(id); });
    Inputs inputs = inputs_of(group);
    // Numbers first: their type is the joined operator's.
    std::vector<ValueId>& list = inputs.numbers;
    for (ValueId condition : inputs.conditions) add_once(list, condition);
    std::unordered_map<ValueId, int> places;
    for (ValueId id : list) places.emplace(id, static_cast<int>(places.size()));
    const auto place = [&](ValueId id) { return places.at(id); };
    Op op;
    const int first_result = static_cast<int>(list.size());
    std::vector<ValueId> given{root.outputs[0]};
    const auto add = [&](Op::Step step) {
      op.steps.push_back(step);
      return first_result + static_cast<int>(op.steps.size()) - 1;
    };
    for (NodeId id : group.nodes) {
      const Node& node = graph_.node(id);
      Op::Step step = *step_of(node);
      const std::span<const ValueId> operands = numbers(node);
      if (node.op_type == "Where") {
        step.operands = {place(node.inputs[0]), place(operands[0]), place(operands[1])};
      } else {
        step.operands = {place(operands[0]), place(operands[operands.size() > 1 ? 1 : 0]), 0};
      }
      int result = add(step);
      for (size_t i = 2; i < operands.size() && node.op_type != "Where"; ++i) {
        step.operands = {result, place(operands[i]), 0};
        result = add(step);
      }
      places[node.outputs[0]] = result;
      if (id == group.root || !goes_elsewhere(node, group)) continue;
      op.results.push_back(result - first_result);
      given.push_back(node.outputs[0]);
    }
    Node fused;
    fused.name = root.name;
    fused.op_type = "FusedElementwise";
    fused.domain = "roundhouse";
    fused.opset = 1;
    std::vector<NodeId> nodes = group.nodes;
    for (ValueId id : list) {
      const auto halves = inputs.rotated.find(id);
      fused.inputs.push_back(rewrite_.current(halves == inputs.rotated.end() ? id : halves->second.x));
      if (halves == inputs.rotated.end()) continue;
      op.rotated.push_back(static_cast<int64_t>(fused.inputs.size()) - 1);
      op.rotates_pairs = halves->second.are_pairs;
      nodes.insert(nodes.begin(), halves->second.nodes.begin(), halves->second.nodes.end());
    }
    fused.attributes = op.attributes();
    rewrite_.replace_nodes(std::move(fused), given, nodes);
  }

  std::vector<size_t> position_;
};

}  // namespace

Edit fuse_elementwise(const Graph& graph, PassContext& context) {
  return context.is_settled() ? Joiner(graph, context).run() : Edit(graph);
}

}  // namespace rh::passes
