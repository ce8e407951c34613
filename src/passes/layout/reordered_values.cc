#include "passes/layout/reordered_values.h"

#include <algorithm>
#include <map>

namespace rh::passes {

namespace {

class Rewriter {
 public:
  Rewriter(const Graph& graph, const OrderRegion& region, const std::unordered_set<NodeId>& turned, Rewrite& rewrite)
      : graph_(graph), region_(region), turned_(turned), rewrite_(rewrite) {}

  void run(const std::vector<NodeId>& nodes) {
    for (NodeId id : nodes)
      if (turned_.contains(id)) turn(graph_.node(id));
    for (NodeId id : nodes)
      for (ValueId output : graph_.node(id).outputs) settle(output);
    for (ValueId input : graph_.inputs()) settle(input);
    std::for_each(nodes.rbegin(), nodes.rend(), [&](NodeId id) { remove_unused(graph_.node(id)); });
  }

 private:
  /// What the value holds, in the first or the second order.
  ValueId in_order(ValueId id, bool second) {
    const auto at = made_.find({id, second});
    if (at != made_.end()) return at->second;
    const ValueId made = make(id, second);
    made_.emplace(std::pair{id, second}, made);
    return made;
  }

  ValueId make(ValueId id, bool second) {
    const Node* producer = graph_.producer(id);
    const AxisOrder& order = region_.order(id);
    if (producer && region_.is_passed(producer->id)) {
      const ValueId x = in_order(producer->inputs[0], second);
      return is_op(*producer, "Transpose") ? x : view(*producer, x, second);
    }
    const bool is_turned = producer && turned_.contains(producer->id);
    if (!is_turned && order.second == second) return id;
    const ValueId from = in_order(id, !second);
    if (!is_turned) {
      for (NodeId user : graph_.value(id).consumers)
        if (region_.is_passed(user) && is_op(graph_.node(user), "Transpose")) return keep(graph_.node(user).outputs[0]);
    }
    return transposed(id, from, second);
  }

  ValueId keep(ValueId id) {
    kept_.insert(id);
    return id;
  }

  ValueId transposed(ValueId id, ValueId from, bool second) {
    const AxisOrder& order = region_.order(id);
    const Node* producer = graph_.producer(id);
    Node made;
    if (producer && !producer->name.empty()) made.name = producer->name + "_Transpose";
    made.op_type = "Transpose";
    made.inputs = {from};
    made.attributes = {{"perm", second ? order.permutation : inverse(order.permutation)}};
    return add(std::move(made), id, stands_for(id));
  }

  /// The Transposes of a value that are there, else the node that gives it.
  std::vector<NodeId> stands_for(ValueId id) const {
    std::vector<NodeId> nodes;
    for (NodeId user : graph_.value(id).consumers)
      if (region_.is_passed(user) && std::ranges::find(nodes, user) == nodes.end()) nodes.push_back(user);
    if (nodes.empty() && graph_.producer(id)) nodes.push_back(graph_.producer(id)->id);
    if (nodes.empty() && !graph_.value(id).consumers.empty()) nodes.push_back(graph_.value(id).consumers[0]);
    return nodes;
  }

  ValueId view(const Node& node, ValueId x, bool second) {
    const ValueId from = node.inputs[0], to = node.outputs[0];
    const AxisOrder &order_of_x = region_.order(from), &order = region_.order(to);
    if (order.second == second && x == from) return keep(to);
    Node made;
    made.name = node.name;
    made.op_type = node.op_type;
    made.opset = node.opset;
    made.attributes = node.attributes;
    made.inputs = node.inputs;
    if (order.second != second) {
      const auto target =
          reshape_target(in_other_order(order_of_x, *tensor_type(graph_, from).dims), in_other_order(order, *tensor_type(graph_, to).dims));
      made.op_type = "Reshape";
      made.opset = 0;
      made.attributes = {};
      made.inputs = {x, rewrite_.edit().add_constant(graph_.value(to).name + "_shape", Tensor::ints(*target))};
    }
    made.inputs[0] = x;
    return add(std::move(made), to, {node.id});
  }

  ValueId add(Node made, ValueId named, std::vector<NodeId> nodes) {
    const ValueId output = rewrite_.edit().add_value(graph_.value(named).name);
    made.outputs = {output};
    rewrite_.edit().add_node(std::move(made), std::move(nodes));
    return output;
  }

  /// The order in which the value's contents are made.
  bool lies_second(ValueId id) const {
    const Node* producer = graph_.producer(id);
    for (; producer && region_.is_passed(producer->id); producer = graph_.producer(id)) id = producer->inputs[0];
    return region_.order(id).second != (producer && turned_.contains(producer->id));
  }

  void turn(const Node& node) {
    const ReorderedForm& form = *region_.form(node.id);
    const ValueId any = *std::ranges::find_if(node.outputs, [](ValueId id) { return id != kNoValue; });
    const AxisOrder& order = region_.order(any);
    const bool inputs_stay = form.reads_either && lies_second(node.inputs[form.inputs[0]]) == order.second;
    std::vector<ValueId> inputs = node.inputs;
    for (size_t input : form.inputs) inputs[input] = in_order(node.inputs[input], inputs_stay ? order.second : !order.second);
    const std::vector<ValueId> outputs = add_reordered(graph_, rewrite_.edit(), node, order, std::move(inputs), inputs_stay);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (node.outputs[i] != kNoValue) made_.emplace(std::pair{node.outputs[i], !order.second}, outputs[i]);
  }

  /// Gives the value in the order that it has to what takes it so.
  void settle(ValueId id) {
    if (id == kNoValue || !region_.contains(id) || !is_taken(id)) return;
    ValueId to = in_order(id, region_.order(id).second);
    if (to == id) return (void)keep(id);
    if (!rewrite_.can_replace(id, to)) {
      Node copy;
      copy.op_type = "Identity";
      copy.inputs = {to};
      to = add(std::move(copy), id, stands_for(id));
    }
    rewrite_.replace(id, to);
  }

  bool is_taken(ValueId id) const {
    const GraphValue& value = graph_.value(id);
    return value.is_output || std::ranges::any_of(value.consumers, [&](NodeId user) {
             return region_.takes_as_it_is(user, id) || (region_.form(user) && !turned_.contains(user));
           });
  }

  void remove_unused(const Node& node) {
    const bool is_used = std::ranges::any_of(node.outputs, [&](ValueId id) { return kept_.contains(id); });
    if ((region_.is_passed(node.id) && !is_used) || turned_.contains(node.id)) rewrite_.remove(node.id);
  }

  const Graph& graph_;
  const OrderRegion& region_;
  const std::unordered_set<NodeId>& turned_;
  Rewrite& rewrite_;
  std::map<std::pair<ValueId, bool>, ValueId> made_;
  std::unordered_set<ValueId> kept_;
};

}  // namespace

void reorder_values(const Graph& graph, const std::vector<NodeId>& nodes, const OrderRegion& region,
                    const std::unordered_set<NodeId>& turned, Rewrite& rewrite) {
  Rewriter(graph, region, turned, rewrite).run(nodes);
}

}  // namespace rh::passes
