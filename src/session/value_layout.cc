#include "session/value_layout.h"

#include <utility>

namespace rh {

namespace {

constexpr size_t kPastValue = 4, kPresentValue = 2;

Node transpose(ValueId from, ValueId to) {
  Node node;
  node.op_type = "Transpose";
  node.inputs = {from};
  node.outputs = {to};
  node.attributes = {{"perm", std::vector<int64_t>{0, 1, 3, 2}}};
  return node;
}

ValueType exchanged(ValueType type) {
  if (type.is_tensor() && type.tensor().has_rank() && type.tensor().dims->size() == 4) {
    std::swap((*type.tensor().dims)[2], (*type.tensor().dims)[3]);
  }
  return type;
}

void take_exchanged(Graph& graph, ValueId past) {
  const ValueType type = graph.value(past).type;
  const ValueId plain = graph.add_value("", type);
  graph.replace_uses(past, plain);
  graph.add_node(transpose(past, plain));
  graph.set_type(past, exchanged(type));
}

void give_exchanged(Graph& graph, ValueId present) {
  const ValueId given = graph.add_value("", exchanged(graph.value(present).type));
  graph.add_node(transpose(present, given));
  graph.pass_name(present, given);
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (graph.outputs()[i] == present) graph.set_output(i, given);
  }
}

}  // namespace

void apply_value_layout(Graph& graph, const SessionOptions& options) {
  if (options.settings.gqa_value_layout != ValueLayout::bnhs) return;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op_type != "GroupQueryAttention" || node.domain != "com.microsoft") continue;
    const ValueId past = node.inputs.size() > kPastValue ? node.inputs[kPastValue] : kNoValue;
    const ValueId present = node.outputs.size() > kPresentValue ? node.outputs[kPresentValue] : kNoValue;
    if (past != kNoValue && graph.value(past).is_input && !graph.value(past).is_output) take_exchanged(graph, past);
    if (present != kNoValue && graph.value(present).is_output) give_exchanged(graph, present);
  }
}

}  // namespace rh
