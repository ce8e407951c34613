#include "session/subgraph_types.h"

#include <algorithm>

#include "ops/inference.h"

namespace rh {

bool may_hold_sizes(const Tensor& tensor) {
  constexpr int64_t kMost = 64;
  return tensor.device().is_host() && is_integer(tensor.dtype()) && tensor.elements() <= kMost;
}

namespace {

void set_input(Graph& graph, const RunInput& input) {
  if (!input.value || input.value->empty()) {
    if (input.type) graph.set_type(input.id, *input.type);
    return;
  }
  if (!input.value->is_tensor()) return;
  const Tensor& tensor = input.value->tensor();
  if (may_hold_sizes(tensor)) {
    graph.drop_input(input.id);
    return graph.set_initializer(input.id, tensor);
  }
  graph.set_type(input.id, ValueType::tensor(tensor.dtype(), SymbolicShape(tensor.shape().begin(), tensor.shape().end())));
}

// The type without sizes of which inference knows nothing but a name.
ValueType without_symbols(ValueType type) {
  if (!type.is_tensor() || !type.tensor().has_rank()) return type;
  for (Dim& dim : *type.tensor().dims) {
    if (!dim.is_constant()) dim = Dim();
  }
  return type;
}

}  // namespace

std::vector<ValueType> infer_outputs(const Graph& graph, std::span<const RunInput> inputs) {
  const std::shared_ptr<Graph> copy = graph.clone();
  for (ValueId id = 0; id < copy->value_count(); ++id) {
    if (copy->value(id).producer != kNoNode) copy->set_type(id, without_shapes(copy->value(id).type));
  }
  for (const RunInput& input : inputs) set_input(*copy, input);
  try {
    infer_types(*copy);
  } catch (const Error&) {
    // What is wrong is told when the subgraph runs; here it has no iteration.
  }
  std::vector<ValueType> types;
  for (ValueId id : copy->outputs())
    types.push_back(with_hint(without_symbols(copy->value(id).type), without_symbols(copy->value(id).hint)));
  return types;
}

Shape sizes_in_run(const Graph& graph, const ValueType& type, std::span<const RunInput> inputs) {
  const auto size_of = [&](std::string_view symbol) -> std::optional<int64_t> {
    for (const RunInput& input : inputs) {
      const ValueType& declared = graph.value(input.id).type;
      if (!input.value || !input.value->is_tensor() || !declared.is_tensor() || !declared.tensor().has_rank()) continue;
      const SymbolicShape& dims = *declared.tensor().dims;
      const Shape& shape = input.value->tensor().shape();
      for (size_t k = 0; k < dims.size() && k < shape.size(); ++k) {
        if (dims[k].symbol_name() == symbol) return shape[k];
      }
    }
    return std::nullopt;
  };
  if (!type.is_tensor() || !type.tensor().has_rank()) return {};
  Shape shape;
  for (const Dim& dim : *type.tensor().dims) shape.push_back(std::max<int64_t>(0, dim.evaluate(size_of).value_or(0)));
  return shape;
}

}  // namespace rh
