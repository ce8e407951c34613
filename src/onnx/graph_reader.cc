#include "onnx/graph_reader.h"

#include <algorithm>

#include "graph/row_tables.h"
#include "onnx/located.h"
#include "onnx/type_reader.h"
#include "tensor/sparse.h"

namespace rh::onnx {

namespace {

/// A sparse initializer becomes dense up to this size: its own bytes times a factor, so that a small file cannot ask for much memory.
constexpr size_t kDenseBytes = 64 << 10;
constexpr size_t kDenseFactor = 1024;

Value initializer_of(SparseTensor sparse) {
  const size_t dense = bytes_of(sparse.dtype, sparse.dense_shape.elements());
  const size_t own = sparse.values.bytes() + sparse.indices.bytes();
  if (dense <= kDenseBytes || dense / kDenseFactor <= own) return to_dense(sparse);
  return sparse;
}

ValueType declared_type(const NamedMessage& value_info) { return read_type(type_of_value_info(value_info.message)); }

Where tensor_where(std::string_view name) { return {.file = {}, .node = {}, .op = {}, .tensor = std::string(name)}; }

std::string operator_text(const NodeFields& fields, int opset) {
  std::string text = fields.domain.empty() ? std::string() : std::string(fields.domain) + "::";
  text += fields.op_type;
  return opset == 0 ? text : text + "(" + std::to_string(opset) + ")";
}

}  // namespace

GraphReader::GraphReader(const ModelFields& model, TensorReader& tensors, const ReadLimits& limits)
    : model_(model), tensors_(tensors), limits_(limits) {
  for (const FunctionFields& function : model.functions) {
    if (!functions_.emplace(std::tuple(function.domain, function.name, function.overload), &function).second) {
      fail(ErrorCode::invalid_graph, "the model has more than one function '{}' of domain '{}' with overload '{}'", function.name,
           function.domain, function.overload);
    }
  }
}

void GraphReader::read_main(const GraphFields& fields, Graph& graph) {
  for (const auto& [domain, version] : model_.imports) graph.opset_imports[std::string(domain)] = version;
  Scope scope{.graph = graph, .imports = model_.imports};
  read_graph(fields, scope);
  align_constants(graph, [&](const Tensor& tensor) {
    return tensors_.copy(tensor.dtype(), tensor.shape(), {static_cast<const char*>(tensor.raw()), tensor.bytes()});
  });
}

void GraphReader::read_graph(const GraphFields& fields, Scope& scope) {
  scope.graph.name = fields.name;
  scope.names.reserve(fields.inputs.size() + fields.initializers.size() + fields.nodes.size());
  Types types;
  types.reserve(fields.value_infos.size() + fields.outputs.size());
  for (const NamedMessage& info : fields.value_infos) types.emplace(info.name, info.message);
  for (const NamedMessage& info : fields.outputs) types.emplace(info.name, info.message);

  const auto initializers = read_initializers(fields, scope);
  read_inputs(fields, scope, initializers);
  declare_outputs(fields.nodes, scope, types);
  int32_t index = 0;
  for (const NodeFields& node : fields.nodes) read_node(node, index++, scope);
  read_outputs(fields, scope);
  scope.graph.topological_order();
}

std::unordered_map<std::string_view, ValueId> GraphReader::read_initializers(const GraphFields& fields, Scope& scope) {
  std::unordered_map<std::string_view, ValueId> ids;
  std::optional<ExternalLocation> location;
  const auto add = [&](std::string_view name, Value value) {
    if (name.empty()) fail(ErrorCode::invalid_graph, "an initializer has no name");
    const ValueId id = scope.graph.add_initializer(scope.prefix + std::string(name), std::move(value));
    if (location) scope.graph.set_external(id, std::move(*location));
    location.reset();
    if (!ids.emplace(name, id).second) {
      throw Error(ErrorCode::invalid_graph, fmt::format("initializer '{}' is given more than once", name), tensor_where(name));
    }
    scope.names.emplace(name, id);
  };
  for (std::string_view message : fields.initializers) {
    std::string_view name;
    Tensor tensor = tensors_.read(message, &name, &location, Alignment::any);
    add(name, std::move(tensor));
  }
  for (std::string_view message : fields.sparse_initializers) {
    std::string_view name;
    SparseTensor sparse = tensors_.read_sparse(message, &name);
    add(name, initializer_of(std::move(sparse)));
  }
  return ids;
}

void GraphReader::read_inputs(const GraphFields& fields, Scope& scope, const std::unordered_map<std::string_view, ValueId>& initializers) {
  std::unordered_map<std::string_view, bool> seen;
  for (const NamedMessage& input : fields.inputs) {
    located([&] { return tensor_where(input.name); },
            [&] {
              if (input.name.empty()) fail(ErrorCode::invalid_graph, "an input of graph '{}' has no name", fields.name);
              if (!seen.emplace(input.name, true).second) fail(ErrorCode::invalid_graph, "input '{}' is given more than once", input.name);
              ValueType type = declared_type(input);
              const auto initializer = initializers.find(input.name);
              if (initializer == initializers.end()) {
                scope.names.emplace(input.name, scope.graph.add_input(scope.prefix + std::string(input.name), std::move(type)));
                return;
              }
              if (model_.ir_version < 4) return;
              const ValueId id = initializer->second;
              merge(type, scope.graph.value(id).type, fmt::format("input '{}', which has an initializer,", input.name));
              if (!type.is_unknown() && type.tensor().has_rank()) scope.graph.set_type(id, std::move(type));
              scope.graph.make_input(id);
            });
  }
}

void GraphReader::declare_outputs(const std::vector<NodeFields>& nodes, Scope& scope, const Types& types) {
  for (const NodeFields& node : nodes) {
    for (std::string_view name : node.outputs) {
      if (name.empty() || scope.names.contains(name)) continue;
      ValueType type;
      if (const auto declared = types.find(name); declared != types.end()) {
        type = located([&] { return tensor_where(name); }, [&] { return declared_type({name, declared->second}); });
      }
      scope.names.emplace(name, scope.graph.add_value(scope.prefix + std::string(name), std::move(type)));
    }
  }
}

void GraphReader::read_outputs(const GraphFields& fields, Scope& scope) {
  for (const NamedMessage& output : fields.outputs) {
    const auto id = output.name.empty() ? std::nullopt : lookup(output.name, scope);
    if (!id || *id == kNoValue) {
      throw Error(ErrorCode::invalid_graph,
                  fmt::format("output '{}' of graph '{}' is given by nothing, expected an input, an initializer or a node's output",
                              output.name, fields.name),
                  tensor_where(output.name));
    }
    scope.graph.add_output(*id);
  }
}

std::shared_ptr<Graph> GraphReader::read_subgraph(std::string_view message, Scope& outer) {
  if (outer.depth >= limits_.depth)
    fail(ErrorCode::invalid_graph, "subgraphs and function calls are nested more than {} deep", limits_.depth);
  auto graph = std::make_shared<Graph>();
  for (const auto& [domain, version] : outer.imports) graph->opset_imports[std::string(domain)] = version;
  Scope scope{.graph = *graph,
              .imports = outer.imports,
              .outer = &outer,
              .call = outer.call,
              .prefix = outer.prefix,
              .callers = outer.callers,
              .depth = outer.depth + 1};
  read_graph(GraphFields::parse(message), scope);
  return graph;
}

std::optional<ValueId> GraphReader::lookup(std::string_view name, Scope& scope) {
  if (const auto at = scope.names.find(name); at != scope.names.end()) return at->second;
  if (!scope.outer) return std::nullopt;
  const auto found = lookup(name, *scope.outer);
  if (!found) return std::nullopt;
  ValueId id = *found;
  if (id != kNoValue) {
    const GraphValue& value = scope.outer->graph.value(id);
    id = scope.graph.add_outer(value.name, id, value.type);
  }
  scope.names.emplace(name, id);
  return id;
}

std::vector<ValueId> GraphReader::lookup_all(const std::vector<std::string_view>& names, const char* what, Scope& scope) {
  std::vector<ValueId> ids;
  ids.reserve(names.size());
  for (std::string_view name : names) {
    if (name.empty()) {
      ids.push_back(kNoValue);
      continue;
    }
    const auto id = lookup(name, scope);
    if (!id) {
      throw Error(ErrorCode::invalid_graph,
                  fmt::format("{} {} is '{}', which nothing gives: expected the name of an input, an initializer or a node's output", what,
                              ids.size(), name),
                  tensor_where(name));
    }
    ids.push_back(*id);
  }
  return ids;
}

void GraphReader::read_node(const NodeFields& fields, int32_t index, Scope& scope) {
  const auto where = [&] {
    return Where{.file = {},
                 .node = fields.name.empty() ? "#" + std::to_string(index) : scope.prefix + std::string(fields.name),
                 .op = operator_text(fields, imported_version(scope.imports, fields.domain)),
                 .tensor = {}};
  };
  located(where, [&] {
    if (fields.op_type.empty()) fail(ErrorCode::invalid_graph, "the node has no operator type");
    if (!scope.callers.empty() && ++inlined_nodes_ > limits_.inlined_nodes) {
      fail(ErrorCode::invalid_graph, "the model-local functions expand to more than {} nodes", limits_.inlined_nodes);
    }
    for (size_t i = 0; !scope.callers.empty() && i < fields.attributes.size(); ++i) {
      inlined_bytes_ += static_cast<int64_t>(fields.attributes[i].message.size());
      if (inlined_bytes_ > limits_.inlined_bytes) {
        fail(ErrorCode::invalid_graph, "the model-local functions expand to more than {} bytes of attributes", limits_.inlined_bytes);
      }
    }
    Provenance provenance = scope.callers;
    provenance.push_back(std::make_shared<const OriginalNode>(
        OriginalNode{std::string(fields.name), std::string(fields.op_type), index, std::string(fields.domain),
                     imported_version(scope.imports, fields.domain), scope.callers.empty() ? nullptr : scope.callers.back()}));
    const auto function =
        functions_.empty() ? functions_.end() : functions_.find(std::tuple(fields.domain, fields.op_type, fields.overload));
    if (function != functions_.end()) {
      inline_call(*function->second, fields, std::move(provenance), scope, index);
    } else {
      add_node(fields, std::move(provenance), scope);
    }
  });
}

void GraphReader::add_node(const NodeFields& fields, Provenance provenance, Scope& scope) {
  Node node;
  node.name = fields.name.empty() ? std::string() : scope.prefix + std::string(fields.name);
  node.domain = fields.domain;
  node.op_type = fields.op_type;
  node.opset = imported_version(scope.imports, fields.domain);
  if (node.opset == 0) {
    fail(ErrorCode::invalid_graph, "the operator is of domain '{}', expected an opset import of that domain (opset_import of the {})",
         fields.domain.empty() ? "ai.onnx" : fields.domain, scope.call ? "function" : "model");
  }
  node.inputs = lookup_all(fields.inputs, "input", scope);
  node.outputs = lookup_all(fields.outputs, "output", scope);
  node.attributes = read_attributes(fields, scope);
  node.provenance = std::move(provenance);
  scope.graph.add_node(std::move(node));
}

}  // namespace rh::onnx
