#include "onnx/graph_reader.h"

#include <algorithm>
#include <unordered_set>

#include "base/known_words.h"
#include "onnx/located.h"
#include "onnx/type_reader.h"
#include "ops/schema.h"
#include "ops/tensor/constant.h"

namespace rh::onnx {

namespace {

ValueType declared_type(const NamedMessage& value_info) { return read_type(type_of_value_info(value_info.message)); }

bool is_constant(const NodeFields& node) { return node.op_type == "Constant" && node.domain.empty() && node.outputs.size() == 1; }

/// Of outputs that are declared as sparse tensors.
std::unordered_set<std::string_view> names_of_sparse(const std::vector<NamedMessage>& outputs) {
  std::unordered_set<std::string_view> names;
  for (const NamedMessage& output : outputs) {
    if (!type_of_value_info(output.message).empty() && declared_type(output).kind() == ValueType::Kind::sparse_tensor)
      names.insert(output.name);
  }
  return names;
}

/// Whether a later Constant gives what the node at a place gives: as of initializers that stand twice, the last one counts.
std::vector<bool> repeated_constants(const std::vector<NodeFields>& nodes) {
  std::vector<bool> repeated(nodes.size());
  std::unordered_set<std::string_view> later;
  for (size_t i = nodes.size(); i-- > 0;) {
    const NodeFields& node = nodes[i];
    if (is_constant(node)) repeated[i] = !later.insert(node.outputs[0]).second;
  }
  return repeated;
}

int64_t inlined_bytes(const NodeFields& fields, bool with_names) {
  size_t bytes = with_names ? fields.name.size() + fields.op_type.size() + fields.domain.size() : 0;
  for (const NamedMessage& attribute : fields.attributes) bytes += attribute.message.size();
  for (const auto* names : {&fields.inputs, &fields.outputs}) {
    for (std::string_view name : *names) bytes += with_names ? name.size() : 0;
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace

GraphReader::GraphReader(const ModelFields& model, TensorReader& tensors, const ReadLimits& limits, std::span<const std::string> domains)
    : model_(model), tensors_(tensors), limits_(limits), domains_(domains) {
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
  graph.opset_imports.merge(assumed_imports_);
  tensors_.align_read(graph);
}

void GraphReader::read_graph(const GraphFields& fields, Scope& scope) {
  scope.graph.name = fields.name;
  scope.names.reserve(fields.inputs.size() + fields.initializers.size() + fields.nodes.size());
  Types types;
  types.reserve(fields.value_infos.size() + fields.outputs.size());
  for (const std::vector<NamedMessage>* list : {&fields.value_infos, &fields.outputs}) {
    for (const NamedMessage& info : *list) {
      const std::string_view type = type_of_value_info(info.message);
      if (list == &fields.value_infos && !has_known_rank(type)) continue;  // it is a hint
      if (!type.empty()) types.insert_or_assign(info.name, info.message);
    }
  }

  const Names sparse_outputs = names_of_sparse(fields.outputs);
  read_initializers(fields, sparse_outputs, scope);
  for (const NamedMessage& input : fields.inputs) {
    located([&] { return tensor_where(input.name); }, [&] { add_input(input.name, declared_type(input), *model_.ir_version, scope); });
  }
  Names declared;
  for (const NodeFields& node : fields.nodes) {
    if (is_constant(node) && scope.names.contains(node.outputs[0])) declared.insert(node.outputs[0]);
  }
  declare_outputs(fields.nodes, scope, types);
  const std::vector<bool> repeated = repeated_constants(fields.nodes);
  for (size_t i = 0; i < fields.nodes.size(); ++i) {
    if (repeated[i] || read_as_initializer(fields.nodes[i], sparse_outputs, declared, scope)) continue;
    read_node(fields.nodes[i], static_cast<int32_t>(i), scope);
  }
  for (const NamedMessage& output : fields.outputs) add_output(output.name, scope);
  scope.graph.topological_order();
}

bool GraphReader::read_as_initializer(const NodeFields& fields, const Names& sparse_outputs, const Names& declared, Scope& scope) {
  if (!is_constant(fields) || (!sparse_outputs.contains(fields.outputs[0]) && !declared.contains(fields.outputs[0]))) return false;
  Node node;
  node.name = fields.name;
  node.op_type = fields.op_type;
  node.opset = opset_of(fields.domain, scope);
  node.attributes = read_attributes(fields, scope);
  const ops::Constant constant = ops::Constant::read(NodeView(scope.graph, node));
  const bool stays_sparse = constant.sparse && sparse_outputs.contains(fields.outputs[0]);
  if (!stays_sparse && !declared.contains(fields.outputs[0])) return false;
  scope.graph.set_initializer(scope.names.at(fields.outputs[0]), stays_sparse ? Value(*constant.sparse) : Value(constant.dense()));
  return true;
}

void GraphReader::read_initializers(const GraphFields& fields, const Names& sparse_outputs, Scope& scope) {
  for (std::string_view message : fields.initializers) {
    std::string_view name;
    std::optional<ExternalLocation> location;
    Tensor tensor = tensors_.read(message, &name, &location, Alignment::any);
    if (name.empty()) continue;  // nothing can take it
    const ValueId id = add_initializer(name, std::move(tensor), scope);
    if (location) scope.graph.set_external(id, std::move(*location));
  }
  for (std::string_view message : fields.sparse_initializers) {
    std::string_view name;
    SparseTensor sparse = tensors_.read_sparse(message, &name);
    if (name.empty()) continue;
    add_initializer(name, sparse_outputs.contains(name) ? Value(std::move(sparse)) : initializer_of(std::move(sparse)), scope);
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

std::shared_ptr<Graph> GraphReader::read_subgraph(std::string_view message, Scope& outer) {
  if (outer.depth >= limits_.depth)
    fail(ErrorCode::invalid_graph, "subgraphs and function calls are nested more than {} deep", limits_.depth);
  auto graph = std::make_shared<Graph>();
  Scope scope = subgraph_scope(*graph, outer);
  read_graph(GraphFields::parse(message), scope);
  return graph;
}

void GraphReader::read_node(const NodeFields& fields, int32_t index, Scope& scope) {
  const auto where = [&] {
    return Where{.file = {},
                 .node = fields.name.empty() ? "#" + std::to_string(index) : scope.prefix + std::string(fields.name),
                 .op = operator_text(fields.domain, fields.op_type, opset_of(fields.domain, scope)),
                 .tensor = {}};
  };
  located(where, [&] {
    if (fields.inputs.empty() && fields.outputs.empty()) return;  // it computes nothing
    if (fields.op_type.empty()) fail(ErrorCode::invalid_graph, "the node has no operator type");
    if (!scope.callers.empty() && ++inlined_nodes_ > limits_.inlined_nodes) {
      fail(ErrorCode::invalid_graph, "the model-local functions expand to more than {} nodes", limits_.inlined_nodes);
    }
    if (!scope.callers.empty()) inlined_bytes_ += inlined_bytes(fields, limits_.counts_names);
    if (!scope.callers.empty() && inlined_bytes_ > limits_.inlined_bytes) {
      fail(ErrorCode::invalid_graph, "the model-local functions expand to more than {} bytes", limits_.inlined_bytes);
    }
    Provenance provenance = scope.callers;
    provenance.push_back(std::make_shared<const OriginalNode>(OriginalNode{std::string(fields.name), std::string(fields.op_type), index,
                                                                           std::string(fields.domain), opset_of(fields.domain, scope),
                                                                           scope.callers.empty() ? nullptr : scope.callers.back()}));
    const auto function =
        functions_.empty() ? functions_.end() : functions_.find(std::tuple(fields.domain, fields.op_type, fields.overload));
    if (function != functions_.end()) {
      inline_call(*function->second, fields, std::move(provenance), scope, index);
    } else {
      add_node(fields, std::move(provenance), scope);
    }
  });
}

int GraphReader::opset_of(std::string_view domain, const Scope& scope) const {
  const int imported = imported_version(scope.imports, domain);
  if (imported != 0 || scope.call) return imported;
  return std::ranges::find(domains_, domain) != domains_.end() ? kNewestOfCallers : ops::latest_opset(domain);
}

void GraphReader::add_node(const NodeFields& fields, Provenance provenance, Scope& scope) {
  Node node;
  node.name = fields.name.empty() ? std::string() : scope.prefix + std::string(fields.name);
  node.domain = fields.domain;
  node.op_type = fields.op_type;
  node.opset = opset_of(fields.domain, scope);
  if (node.opset == 0) {
    fail(scope.call ? ErrorCode::fail : ErrorCode::invalid_graph,
         "{}: the operator is of this domain, expected an opset import of it (opset_import of the {})",
         fmt::format(words::kNoImport, fields.domain.empty() ? "ai.onnx" : fields.domain), scope.call ? "function" : "model");
  }
  if (imported_version(scope.imports, fields.domain) == 0) {
    scope.graph.opset_imports.emplace(fields.domain, node.opset);
    assumed_imports_.emplace(fields.domain, node.opset);
  }
  node.inputs = lookup_all(fields.inputs, "input", scope);
  node.outputs = lookup_all(fields.outputs, "output", scope);
  node.attributes = read_attributes(fields, scope);
  node.provenance = std::move(provenance);
  scope.graph.add_node(std::move(node));
}

}  // namespace rh::onnx
