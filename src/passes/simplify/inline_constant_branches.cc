// Pattern: If with a constant condition.
// Replacement: the nodes of the branch that is taken, in the graph around it.
// Not: where the condition comes with the run, or the branch has other outputs than the node.

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

class Inliner {
 public:
  Inliner(const Graph& graph, Rewrite& rewrite, const Node& node, const Graph& branch)
      : graph_(graph), rewrite_(rewrite), node_(node), branch_(branch), ids_(static_cast<size_t>(branch.value_count()), kNoValue) {}

  void run() {
    for (NodeId id : branch_.topological_order()) add(branch_.node(id));
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      const ValueId output = node_.outputs[i];
      if (output == kNoValue) continue;
      ValueId value = outside(branch_.outputs()[i]);
      if (!rewrite_.can_replace(output, value)) value = identity(value, output);
      rewrite_.replace(output, value);
    }
    rewrite_.remove(node_.id);
  }

 private:
  // The value of the graph around the branch that becomes, or is, this one of the branch.
  ValueId outside(ValueId id) {
    if (id == kNoValue) return id;
    ValueId& result = ids_[static_cast<size_t>(id)];
    if (result != kNoValue) return result;
    const GraphValue& value = branch_.value(id);
    if (value.outer != kNoValue) return result = value.outer;
    if (!value.initializer.empty()) return result = rewrite_.edit().add_constant(value.name, value.initializer);
    return result = rewrite_.edit().add_value(value.name, value.type);
  }

  void add(const Node& inner) {
    Node copy = inner;
    for (ValueId& input : copy.inputs) input = outside(input);
    for (ValueId& output : copy.outputs) output = outside(output);
    for (ValueId input : inner.implicit_inputs) outside(input);
    const auto moved = [&](const std::shared_ptr<Graph>& subgraph) {
      auto clone = subgraph->clone();
      clone->remap_captures(ids_);
      return clone;
    };
    for (Attribute& attribute : copy.attributes) {
      if (auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) *one = moved(*one);
      if (auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
        for (auto& subgraph : *many) subgraph = moved(subgraph);
      }
    }
    rewrite_.edit().add_node(std::move(copy), {});
  }

  // For an output of the graph, whose name the value cannot take.
  ValueId identity(ValueId value, ValueId output) {
    Node node;
    node.op_type = "Identity";
    node.inputs = {value};
    node.outputs = {rewrite_.edit().add_value(graph_.value(output).name, graph_.value(output).type)};
    const ValueId result = node.outputs[0];
    rewrite_.edit().add_node(std::move(node), {node_.id});
    return result;
  }

  const Graph& graph_;
  Rewrite& rewrite_;
  const Node& node_;
  const Graph& branch_;
  std::vector<ValueId> ids_;
};

}  // namespace

Edit inline_constant_branches(const Graph& graph, PassContext& context) {
  Rewrite rewrite(graph);
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!is_op(node, "If") || node.inputs.size() != 1 || node.inputs[0] == kNoValue) continue;
    const Tensor* condition = graph.value(node.inputs[0]).constant_tensor();
    if (!condition || condition->dtype() != DType::boolean || condition->elements() != 1) continue;
    const Graph* branch = NodeView(graph, node).subgraph(*condition->data<bool>() ? "then_branch" : "else_branch");
    if (!branch || !branch->inputs().empty() || branch->outputs().size() != node.outputs.size() || !context.admit()) continue;
    Inliner(graph, rewrite, node, *branch).run();
  }
  return rewrite.take();
}

}  // namespace rh::passes
