#include "providers/kit/graph/root_types.h"

namespace rh::kit {

void RootTypes::remember(const Graph& graph, std::span<const NodeId> region) {
  const auto remember_value = [&](ValueId id) {
    if (id == kNoValue) return;
    const GraphValue& value = graph.value(id);
    const auto [known, is_new] = types_.emplace(value.name, value.type);
    if (!is_new && known->second.to_string() != value.type.to_string()) known->second = {};
  };
  for (NodeId id : region) {
    for (ValueId input : graph.node(id).inputs) remember_value(input);
    for (ValueId input : graph.node(id).implicit_inputs) remember_value(input);
    for (ValueId output : graph.node(id).outputs) remember_value(output);
  }
}

void RootTypes::restore(Graph& unit) const {
  for (ValueId id = 0; id < unit.value_count(); ++id) {
    const ValueType& type = unit.value(id).type;
    const auto known = types_.find(unit.value(id).name);
    if (known == types_.end() || !known->second.is_tensor() || !type.is_tensor()) continue;
    if (known->second.tensor().dtype == type.tensor().dtype && known->second.tensor().has_rank()) unit.set_type(id, known->second);
  }
}

}  // namespace rh::kit
