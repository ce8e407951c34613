#include "onnx/writer.h"

#include <unordered_set>

#include "base/file.h"
#include "onnx/attribute_writer.h"
#include "onnx/proto.h"
#include "onnx/tensor_writer.h"
#include "onnx/type_reader.h"
#include "ops/schema.h"
#include "ops/tensor/unrunnable.h"

namespace rh::onnx {

namespace {

constexpr int64_t kDefaultIrVersion = 10;
constexpr int64_t kOldestIrVersion = 4;  ///< the first in which initializers need not be inputs

class ModelWriter {
 public:
  ModelWriter(const WriteOptions& options, ExternalSink* sink) : options_(options), sink_(sink) {}

  std::string write(const ModelInfo& model, const Graph& graph);

 private:
  /// What the values of a graph are called in the file.
  using Names = std::vector<std::string>;

  void collect_imports(const Graph& graph);
  Names name_values(const Graph& graph, const Names* outer);
  void write_graph(WireWriter& message, const Graph& graph, const Names* outer);
  void write_initializers(WireWriter& message, const Graph& graph, const Names& names);
  void write_node(WireWriter& message, const Graph& graph, const Node& node, const Names& names);
  void write_value_info(WireWriter& message, uint32_t number, const std::string& name, const ValueType& type);

  const WriteOptions& options_;
  ExternalSink* sink_;
  std::map<std::string, int> imports_;
  std::unordered_set<std::string> visible_;  ///< names of the graph being written and of those around it
  std::string bytes_;
};

// A type without one may not be written down.
bool has_element_type(const ValueType& type) {
  return !type.is_unknown() &&
         ((!type.is_tensor() && type.kind() != ValueType::Kind::sparse_tensor) || type.tensor().dtype != DType::undefined);
}

size_t tensor_bytes(const Graph& graph) {
  size_t bytes = 0;
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const Value& value = graph.value(id).initializer;
    if (value.is_tensor() && value.tensor().dtype() != DType::string) bytes += value.tensor().bytes();
  }
  return bytes;
}

std::string ModelWriter::write(const ModelInfo& model, const Graph& main_graph) {
  imports_ = main_graph.opset_imports;
  collect_imports(main_graph);
  if (!sink_) {
    const size_t weights = tensor_bytes(main_graph);
    if (weights > kMessageLimit) {
      fail(ErrorCode::fail, "the model has {} bytes of weights, a message holds less than 2 GiB: write the weights as external data",
           weights);
    }
    bytes_.reserve(weights + (weights >> 8) + 4096);
  }
  WireWriter message(bytes_);
  message.add_int64(field::model::ir_version, model.ir_version == 0 ? kDefaultIrVersion : std::max(model.ir_version, kOldestIrVersion));
  const auto add_text = [&](uint32_t number, const std::string& text) {
    if (!text.empty()) message.add_string(number, text);
  };
  add_text(field::model::producer_name, model.producer_name);
  add_text(field::model::producer_version, model.producer_version);
  add_text(field::model::domain, model.domain);
  if (model.model_version != kNoModelVersion) message.add_int64(field::model::model_version, model.model_version);
  add_text(field::model::doc_string, model.description);
  {
    WireWriter graph(message, field::model::graph);
    write_graph(graph, main_graph, nullptr);
    if (!model.graph_description.empty()) graph.add_string(field::graph::doc_string, model.graph_description);
  }
  for (const auto& [domain, version] : imports_) {
    WireWriter import(message, field::model::opset_import);
    import.add_string(field::opset::domain, domain);
    import.add_int64(field::opset::version, version);
  }
  for (const auto& [key, value] : model.metadata) {
    WireWriter entry(message, field::model::metadata_props);
    entry.add_string(field::entry::key, key);
    entry.add_string(field::entry::value, value);
  }
  if (bytes_.size() > kMessageLimit) {
    fail(ErrorCode::fail, "the model takes {} bytes, a message holds less than 2 GiB: write the weights as external data", bytes_.size());
  }
  return std::move(bytes_);
}

void ModelWriter::collect_imports(const Graph& graph) {
  for (NodeId id : graph.nodes()) {
    const std::optional<Node> form = ops::runnable_form(graph.node(id));
    const Node& node = form ? *form : graph.node(id);
    const int import = imports_.emplace(node.domain, node.opset).first->second;
    if (import != node.opset &&
        ops::find_schema(node.domain, node.op_type, import) != ops::find_schema(node.domain, node.op_type, node.opset)) {
      throw Error(
          ErrorCode::invalid_graph,
          fmt::format("the operator is of another opset than the model's, {}, and their meanings differ: convert the node first", import),
          node.where());
    }
    Graph::for_each_subgraph(node, [&](const Graph& subgraph) { collect_imports(subgraph); });
  }
}

ModelWriter::Names ModelWriter::name_values(const Graph& graph, const Names* outer) {
  Names names(static_cast<size_t>(graph.value_count()));
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const GraphValue& value = graph.value(id);
    std::string& name = names[static_cast<size_t>(id)];
    if (value.outer != kNoValue) {
      name = (*outer)[static_cast<size_t>(value.outer)];
      continue;
    }
    name = value.name;
    for (int i = 1; !visible_.insert(name).second; ++i) name = value.name + "__" + std::to_string(i);
  }
  return names;
}

void ModelWriter::write_graph(WireWriter& message, const Graph& graph, const Names* outer) {
  const Names names = name_values(graph, outer);
  const auto name_of = [&](ValueId id) -> const std::string& { return names[static_cast<size_t>(id)]; };
  const std::vector<NodeId> order = graph.topological_order();
  for (NodeId id : order) {
    WireWriter node(message, field::graph::node);
    const std::optional<Node> form = ops::runnable_form(graph.node(id));
    write_node(node, graph, form ? *form : graph.node(id), names);
  }
  message.add_string(field::graph::name, graph.name.empty() ? "graph" : graph.name);
  write_initializers(message, graph, names);
  for (ValueId id : graph.inputs()) write_value_info(message, field::graph::input, name_of(id), graph.value(id).type);
  for (ValueId id : graph.outputs()) write_value_info(message, field::graph::output, name_of(id), graph.value(id).type);
  for (NodeId id : order) {
    if (!options_.value_info) break;
    for (ValueId output : graph.node(id).outputs) {
      if (output == kNoValue || graph.value(output).is_output || !has_element_type(graph.value(output).type)) continue;
      if (options_.declared_value_info_only && graph.value(output).hint.is_unknown()) continue;
      write_value_info(message, field::graph::value_info, name_of(output), graph.value(output).type);
    }
  }
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    if (graph.value(id).outer == kNoValue) visible_.erase(name_of(id));
  }
}

void ModelWriter::write_initializers(WireWriter& message, const Graph& graph, const Names& names) {
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const GraphValue& value = graph.value(id);
    if (value.initializer.empty() || (value.consumers.empty() && !value.is_input && !value.is_output)) continue;
    const std::string& name = names[static_cast<size_t>(id)];
    if (value.initializer.is_tensor()) {
      WireWriter tensor(message, field::graph::initializer);
      write_tensor_fields(tensor, value.initializer.tensor(), name, sink_);
    } else if (value.initializer.is_sparse()) {
      WireWriter sparse(message, field::graph::sparse_initializer);
      write_sparse_fields(sparse, value.initializer.sparse(), name, sink_);
    } else {
      fail(ErrorCode::invalid_graph, "initializer '{}' is neither a tensor nor a sparse tensor: ONNX has no form for it", name);
    }
  }
}

void ModelWriter::write_value_info(WireWriter& message, uint32_t number, const std::string& name, const ValueType& type) {
  WireWriter info(message, number);
  info.add_string(field::value_info::name, name);
  const std::string type_bytes = write_type(type);
  if (!type_bytes.empty()) info.add_message(field::value_info::type, type_bytes);
}

void ModelWriter::write_node(WireWriter& message, const Graph& graph, const Node& node, const Names& names) {
  const auto add_names = [&](uint32_t number, const std::vector<ValueId>& ids) {
    for (ValueId id : ids) message.add_string(number, id == kNoValue ? std::string() : names[static_cast<size_t>(id)]);
  };
  add_names(field::node::input, node.inputs);
  add_names(field::node::output, node.outputs);
  if (!node.name.empty()) message.add_string(field::node::name, node.name);
  message.add_string(field::node::op_type, node.op_type);
  for (const Attribute& attribute : node.attributes) {
    WireWriter one(message, field::node::attribute);
    write_attribute_fields(one, attribute, sink_, [&](WireWriter& part, const Graph& subgraph) { write_graph(part, subgraph, &names); });
  }
  if (!node.domain.empty()) message.add_string(field::node::domain, node.domain);
}

}  // namespace

bool fits_in_a_message(const Graph& graph) { return tensor_bytes(graph) < kMessageLimit - kMessageLimit / 32; }

std::string write_model(const ModelInfo& model, const Graph& graph, const WriteOptions& options, ExternalSink* sink) {
  return ModelWriter(options, sink).write(model, graph);
}

void write_model_file(const Model& model, const std::string& path, size_t external_bytes, const WriteOptions& options) {
  if (external_bytes == static_cast<size_t>(-1)) return write_file(path, write_model(model, options));
  FileSink sink(path + ".data", file_name(path) + ".data", external_bytes);
  const std::string bytes = write_model(model, options, &sink);
  sink.commit();
  write_file(path, bytes);
}

}  // namespace rh::onnx
