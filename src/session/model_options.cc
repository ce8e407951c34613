#include "session/model_options.h"

#include <algorithm>

#include "base/nearest.h"
#include "session/value_layout.h"
#include "session/warn.h"

namespace rh {

namespace {

void set_dims(Graph& graph, const std::vector<std::pair<std::string, int64_t>>& by_name) {
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const ValueType& type = graph.value(id).type;
    if (!type.is_tensor() || !type.tensor().has_rank()) continue;
    ValueType changed = type;
    for (Dim& dim : *changed.tensor().dims) {
      const auto named = [&](const auto& entry) { return entry.first == dim.symbol_name(); };
      if (const auto at = std::find_if(by_name.begin(), by_name.end(), named); at != by_name.end()) dim = Dim(at->second);
    }
    graph.set_type(id, std::move(changed));
  }
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& subgraph) { set_dims(subgraph, by_name); });
  }
}

std::string nearest_initializer(const Graph& graph, const std::string& name) {
  std::vector<std::string_view> names;
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    if (!graph.value(id).initializer.empty()) names.push_back(graph.value(id).name);
  }
  const std::string_view best = nearest(name, names);
  return best.empty() ? std::string() : "; the nearest is '" + std::string(best) + "'";
}

/// Values that this model has no initializer for are for others: one set of weights may serve several models.
void replace_initializers(Graph& graph, const std::map<std::string, Value>& initializers, LogSink* log) {
  for (const auto& [name, value] : initializers) {
    const ValueId id = graph.find_value(name);
    if (id == kNoValue || graph.value(id).initializer.empty()) {
      warn(log, fmt::format("initializer '{}' was given, but the main graph has no initializer of that name{}", name,
                            nearest_initializer(graph, name)));
      continue;
    }
    const ValueType before = graph.value(id).type;
    if (!value.is_tensor() || !before.is_tensor() || value.tensor().dtype() != before.tensor().dtype) {
      fail(ErrorCode::invalid_argument, "initializer '{}' was given with another type than the model's, expected {}", name,
           before.to_string());
    }
    graph.set_initializer(id, value);
  }
}

// Numbers, and symbols that the model's author named.
Dim public_dim(const Dim& dim) {
  return dim.is_constant() || (!dim.symbol_name().empty() && !is_generated_symbol(dim.symbol_name())) ? dim : Dim();
}

void fill_in(ValueInfo& info, const ValueType& inferred) {
  if (info.type.is_unknown()) {
    info.type = inferred;
    if (!info.type.is_tensor() || !info.type.tensor().has_rank()) return;
    for (Dim& dim : *info.type.tensor().dims) dim = public_dim(dim);
    return;
  }
  if (!info.type.is_tensor() || !inferred.is_tensor()) return;
  TensorType& type = info.type.tensor();
  if (type.dtype == DType::undefined) type.dtype = inferred.tensor().dtype;
  if (!inferred.tensor().has_rank()) return;
  const size_t rank = inferred.tensor().dims->size();
  if (!type.has_rank() || type.dims->size() != rank) type.dims = SymbolicShape(rank);
  for (size_t i = 0; i < rank; ++i) {
    const Dim& known = (*inferred.tensor().dims)[i];
    Dim& dim = (*type.dims)[i];
    if (known.is_constant() || dim.is_unknown()) dim = public_dim(known);
  }
}

// No product by codes rounds the rows of its left operand.
void compute_with_floats(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op_type == "MatMulNBits" && node.domain == "com.microsoft") graph.set_attribute(id, {"accuracy_level", int64_t{1}});
    Graph::for_each_subgraph(graph.mutable_node(id), [](Graph& subgraph) { compute_with_floats(subgraph); });
  }
}

}  // namespace

void apply_model_options(Graph& graph, const SessionOptions& options) {
  if (!options.dims_by_name.empty()) set_dims(graph, options.dims_by_name);
  replace_initializers(graph, options.initializers, options.log.get());
  apply_value_layout(graph, options);
  if (options.settings.nbits_with_floats) compute_with_floats(graph);
}

void apply_dim_denotations(Graph& graph, const std::map<std::string, std::vector<std::string>>& denotations,
                           const SessionOptions& options) {
  std::vector<std::pair<std::string, int64_t>> by_name;
  for (ValueId id : graph.inputs()) {
    const auto at = denotations.find(graph.value(id).name);
    ValueType type = graph.value(id).type;
    if (at == denotations.end() || !type.is_tensor() || !type.tensor().has_rank()) continue;
    SymbolicShape& dims = *type.tensor().dims;
    for (size_t axis = 0; axis < dims.size() && axis < at->second.size(); ++axis) {
      for (const auto& [denotation, value] : options.dims_by_denotation) {
        if (denotation != at->second[axis] || dims[axis].is_constant()) continue;
        if (!dims[axis].symbol_name().empty()) by_name.emplace_back(dims[axis].symbol_name(), value);
        dims[axis] = Dim(value);
      }
    }
    graph.set_type(id, std::move(type));
  }
  if (!by_name.empty()) set_dims(graph, by_name);
}

void turn_shapes_into_hints(Graph& graph) {
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    if (graph.value(id).producer == kNoNode) continue;
    const ValueType type = graph.value(id).type;
    graph.set_type(id, without_shapes(type));
    graph.set_hint(id, type);
  }
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [](Graph& subgraph) { turn_shapes_into_hints(subgraph); });
  }
}

void name_unknown_dims(Graph& graph) {
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ValueId id = graph.inputs()[i];
    ValueType type = graph.value(id).type;
    if (!type.is_tensor() || !type.tensor().has_rank()) continue;
    SymbolicShape& dims = *type.tensor().dims;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis].is_unknown()) dims[axis] = Dim::symbol(fmt::format("_input{}_{}", i, axis));
    }
    graph.set_type(id, std::move(type));
  }
}

Signature declared_signature(const Graph& graph) {
  Signature signature;
  for (ValueId id : graph.inputs()) {
    const GraphValue& value = graph.value(id);
    // Everything that is inferred rests on these.
    if (value.type.is_unknown() || (value.type.is_tensor() && value.type.tensor().dtype == DType::undefined)) {
      fail(ErrorCode::invalid_graph, "input '{}' has no element type, expected one: export the model with the types of its inputs",
           value.name);
    }
    (value.initializer.empty() ? signature.inputs : signature.overridable_initializers).push_back({value.name, value.type});
  }
  for (ValueId id : graph.outputs()) signature.outputs.push_back({graph.value(id).name, graph.value(id).type});
  return signature;
}

void complete_signature(Signature& signature, const Graph& graph) {
  for (size_t i = 0; i < signature.outputs.size(); ++i) fill_in(signature.outputs[i], graph.value(graph.outputs()[i]).type);
}

}  // namespace rh
