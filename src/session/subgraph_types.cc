#include "session/subgraph_types.h"

#include <algorithm>

#include "ops/inference.h"
#include "ops/schema.h"
#include "partition/copies.h"

namespace rh {

bool may_hold_sizes(const Tensor& tensor) {
  constexpr int64_t kMost = 64;
  const bool may_count = is_integer(tensor.dtype()) || is_floating(tensor.dtype());  // scales of Resize, limits of Range
  return tensor.device().is_host() && may_count && tensor.elements() <= kMost;
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

/// A size of this run: that of an input where the graph has the symbol.
std::optional<int64_t> size_of(const Graph& graph, std::span<const RunInput> inputs, std::string_view symbol) {
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
}

/// What inference does not know, copies and units of providers, gives what it was known to give in `known`, in the sizes of this run of
/// `graph`. `known` is the node's own graph before this run: `graph`, or one of a body within it, where a symbol is the same size.
bool keep_known_types(const NodeView& node, const Graph& known, const Graph& graph, std::span<const RunInput> inputs,
                      InferenceContext& context) {
  if (ops::find_schema(node.domain(), node.op_type(), node.opset())) return false;
  if (node.domain() == kCopyDomain && node.op_type() == kCopyOp) {
    context.set_output(0, context.input_type(0));
    return true;
  }
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    ValueType type = known.value(node.node().outputs[static_cast<size_t>(i)]).type;
    if (type.is_tensor() && type.tensor().has_rank()) {
      for (Dim& dim : *type.tensor().dims) {
        const std::optional<int64_t> size = dim.evaluate([&](std::string_view symbol) { return size_of(graph, inputs, symbol); });
        dim = size ? Dim(*size) : Dim();
      }
    }
    context.set_output(i, std::move(type));
  }
  return true;
}

}  // namespace

std::vector<ValueType> infer_outputs(const Graph& graph, std::span<const RunInput> inputs) {
  const std::shared_ptr<Graph> copy = graph.clone();
  for (ValueId id = 0; id < copy->value_count(); ++id) {
    if (copy->value(id).producer != kNoNode) copy->set_type(id, without_shapes(copy->value(id).type));
  }
  for (const RunInput& input : inputs) set_input(*copy, input);
  try {
    infer_types(*copy, {.custom = [&](const NodeView& node, InferenceContext& context) {
      return keep_known_types(node, &node.graph() == copy.get() ? graph : node.graph(), graph, inputs, context);
    }});
  } catch (const Error&) {
    // What is wrong is told when the subgraph runs; here it has no iteration.
  }
  std::vector<ValueType> types;
  for (ValueId id : copy->outputs())
    types.push_back(with_hint(without_symbols(copy->value(id).type), without_symbols(copy->value(id).hint)));
  return types;
}

Shape sizes_in_run(const Graph& graph, const ValueType& type, std::span<const RunInput> inputs) {
  if (!type.is_tensor() || !type.tensor().has_rank()) return {};
  Shape shape;
  for (const Dim& dim : *type.tensor().dims) {
    const std::optional<int64_t> size = dim.evaluate([&](std::string_view symbol) { return size_of(graph, inputs, symbol); });
    shape.push_back(std::max<int64_t>(0, size.value_or(0)));
  }
  return shape;
}

}  // namespace rh
