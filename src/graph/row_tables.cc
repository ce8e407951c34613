#include "graph/row_tables.h"

#include <algorithm>

namespace rh {

bool is_row_table(const Graph& graph, ValueId id) {
  const GraphValue& value = graph.value(id);
  const Tensor* tensor = value.constant_tensor();
  // Rows of one element are read as elements.
  if (!tensor || value.is_output || tensor->shape().rank() < 2 || tensor->shape().product(1, tensor->shape().rank()) < 2) return false;
  return !value.consumers.empty() && std::ranges::all_of(value.consumers, [&](NodeId consumer) {
    const Node& node = graph.node(consumer);
    const Attribute* axis = node.attribute("axis");
    const int64_t* along = axis ? axis->get<int64_t>() : nullptr;
    return node.domain.empty() && node.op_type == "Gather" && node.inputs[0] == id && node.inputs[1] != id &&
           (!axis || (along && *along == 0));
  });
}

void align_constants(Graph& graph, FunctionRef<Tensor(const Tensor&)> copy) {
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const Value& initializer = graph.value(id).initializer;
    if (!initializer.is_tensor()) continue;
    const Tensor& tensor = initializer.tensor();
    if (is_aligned_for(tensor.dtype(), reinterpret_cast<uintptr_t>(tensor.raw())) || is_row_table(graph, id)) continue;
    graph.set_initializer(id, copy(tensor));
  }
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& subgraph) { align_constants(subgraph, copy); });
  }
}

}  // namespace rh
