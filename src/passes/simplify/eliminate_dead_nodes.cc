// Pattern: a node on which no output of the graph depends.
// Replacement: nothing.
// Not: never.

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

Edit eliminate_dead_nodes(const Graph& graph, PassContext& context) {
  std::vector<bool> live(static_cast<size_t>(graph.node_slots()));
  std::vector<NodeId> open;
  const auto reach = [&](ValueId value) {
    const Node* node = graph.producer(value);
    if (!node || live[static_cast<size_t>(node->id)]) return;
    live[static_cast<size_t>(node->id)] = true;
    open.push_back(node->id);
  };
  for (ValueId value = 0; value < graph.value_count(); ++value) {
    if (graph.value(value).is_output) reach(value);
  }
  while (!open.empty()) {
    const Node& node = graph.node(open.back());
    open.pop_back();
    for (ValueId input : node.inputs) reach(input);
    for (ValueId input : node.implicit_inputs) reach(input);
  }
  Edit edit(graph);
  const auto order = graph.topological_order();
  for (auto at = order.rbegin(); at != order.rend(); ++at) {  // users before what they use, so that a limit leaves no dangling use
    if (!live[static_cast<size_t>(*at)] && context.admit()) edit.remove_node(*at);
  }
  return edit;
}

}  // namespace rh::passes
