#include "graph/constant_addresses.h"

#include <algorithm>
#include <string_view>

namespace rh {

namespace {

constexpr std::string_view kTakeWeights[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};

bool is_float(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float64;
}

}  // namespace

bool is_row_table(const Graph& graph, ValueId id) {
  const GraphValue& value = graph.value(id);
  const Tensor* tensor = value.constant_tensor();
  // Rows of one element are read as elements.
  if (!tensor || value.is_output || tensor->shape().rank() < 2 || tensor->shape().product(1, tensor->shape().rank()) < 2) return false;
  return !value.consumers.empty() && std::ranges::all_of(value.consumers, [&](NodeId consumer) {
    const Node& node = graph.node(consumer);
    const Attribute* axis = node.attribute("axis");
    const int64_t* along = axis ? axis->get<int64_t>() : nullptr;
    return node.domain.empty() && node.op_type == "Gather" && node.inputs.size() == 2 && node.inputs[0] == id && node.inputs[1] != id &&
           (!axis || (along && *along == 0));
  });
}

bool is_weights(const Graph& graph, ValueId id) {
  const GraphValue& value = graph.value(id);
  const Tensor* tensor = value.constant_tensor();
  if (!tensor || value.is_output || value.consumers.empty() || tensor->shape().rank() < 2 || !is_float(tensor->dtype())) return false;
  return std::ranges::all_of(value.consumers, [&](NodeId consumer) {
    const Node& node = graph.node(consumer);
    return node.domain.empty() && std::ranges::find(kTakeWeights, node.op_type) != std::end(kTakeWeights) && node.inputs.size() > 1 &&
           node.inputs[1] == id && std::ranges::count(node.inputs, id) == 1;
  });
}

void align_constants(Graph& graph, FunctionRef<Tensor(const Tensor&)> copy, FunctionRef<bool(const Graph&, ValueId)> stays) {
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const GraphValue& value = graph.value(id);
    if (!value.initializer.is_tensor() || (value.consumers.empty() && !value.is_output)) continue;
    const Tensor& tensor = value.initializer.tensor();
    if (is_aligned_for(tensor.dtype(), reinterpret_cast<uintptr_t>(tensor.raw())) || stays(graph, id)) continue;
    graph.set_initializer(id, copy(tensor));
  }
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& subgraph) { align_constants(subgraph, copy, stays); });
  }
}

}  // namespace rh
