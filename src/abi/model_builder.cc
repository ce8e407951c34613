#include "abi/model_builder.h"

#include "base/known_words.h"
#include "graph/check.h"

namespace rh::abi {

namespace {

constexpr int64_t kBuiltIrVersion = 10;

/// The type of an input or output. The C ABI has no other way to leave a shape open than to give no dimensions, so these stand for any
/// rank.
ValueType declared_type(const OrtTypeInfo& info) {
  ValueType type = value_type_of(info);
  if (!type.is_tensor() || !type.tensor().has_rank() || type.tensor().rank() > 0) return type;
  return ValueType::tensor(type.tensor().dtype);
}

std::string domain_of(std::string_view name) { return name == "ai.onnx" ? std::string() : std::string(name); }

class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : graph_(graph) {}

  void add(const OrtGraph& from) {
    if (graph_.name.empty()) graph_.name = from.name;
    for (const OrtValueInfo* initializer : from.initializers) add_initializer(*initializer);
    if (!from.inputs.empty()) set_inputs(from);
    for (const auto& node : from.nodes) declare_outputs(*node);
    for (size_t i = 0; i < from.nodes.size(); ++i) add_node(*from.nodes[i], static_cast<int32_t>(i));
    if (!from.outputs.empty()) set_outputs(from);
  }

 private:
  void add_initializer(const OrtValueInfo& initializer) {
    if (graph_.find_value(initializer.name) != kNoValue) {
      fail(ErrorCode::invalid_graph, "initializer '{}' has the name of another value of the graph", initializer.name);
    }
    graph_.add_initializer(initializer.name, initializer.initializer->content());
  }

  void set_inputs(const OrtGraph& from) {
    std::vector<ValueId> ids;
    for (const OrtValueInfo* input : from.inputs) {
      ValueType type = input->type ? declared_type(*input->type) : ValueType();
      ValueId id = graph_.find_value(input->name);
      if (id == kNoValue) {
        id = graph_.add_value(input->name, std::move(type));
      } else if (graph_.value(id).initializer.empty()) {
        graph_.set_type(id, std::move(type));
      }
      if (std::ranges::find(ids, id) != ids.end()) fail(ErrorCode::invalid_graph, "input '{}' is given more than once", input->name);
      ids.push_back(id);
    }
    graph_.set_inputs(std::move(ids));
  }

  void set_outputs(const OrtGraph& from) {
    std::vector<ValueId> ids;
    for (const OrtValueInfo* output : from.outputs) {
      const ValueId id = graph_.find_value(output->name);
      if (id == kNoValue) {
        fail(ErrorCode::invalid_graph, "output '{}' is given by nothing, expected an input, an initializer or a node's output",
             output->name);
      }
      if (output->type) graph_.set_type(id, merge(declared_type(*output->type), graph_.value(id).type, "output '" + output->name + "'"));
      ids.push_back(id);
    }
    graph_.set_outputs(std::move(ids));
  }

  void declare_outputs(const OrtNode& node) {
    for (const OrtValueInfo* output : node.outputs) {
      if (output && graph_.find_value(output->name) == kNoValue) graph_.add_value(output->name);
    }
  }

  void add_node(const OrtNode& from, int32_t index) {
    Node node;
    node.name = from.name;
    node.domain = domain_of(from.domain);
    node.op_type = from.op_type;
    for (const OrtValueInfo* input : from.inputs) node.inputs.push_back(input ? existing(*input, from) : kNoValue);
    for (const OrtValueInfo* output : from.outputs) node.outputs.push_back(output ? existing(*output, from) : kNoValue);
    for (const OrtOpAttr& attribute : *from.attributes) node.attributes.push_back(attribute.attribute);
    const auto imported = graph_.opset_imports.find(node.domain);
    const int opset = imported == graph_.opset_imports.end() ? 0 : imported->second;
    node.provenance.push_back(
        std::make_shared<const OriginalNode>(OriginalNode{from.name, from.op_type, index, node.domain, opset, nullptr}));
    graph_.add_node(std::move(node));
  }

  ValueId existing(const OrtValueInfo& value, const OrtNode& node) const {
    const ValueId id = graph_.find_value(value.name);
    if (id == kNoValue) {
      throw Error(ErrorCode::invalid_graph,
                  fmt::format(words::kNoSource, value.name) + " A node takes it: give the graph an input or an initializer of this name",
                  {.file = {}, .node = node.name, .op = node.op_type, .tensor = value.name});
    }
    return id;
  }

  Graph& graph_;
};

}  // namespace

Model build_model(const OrtModel& built) {
  if (!built.graph) fail(ErrorCode::invalid_argument, "the model has no graph: add one with AddGraphToModel");
  Model model;
  model.ir_version = kBuiltIrVersion;
  add_to_graph(*model.graph, built);
  return model;
}

void add_to_graph(Graph& graph, const OrtModel& addition) {
  const bool is_new = graph.opset_imports.empty();
  for (const auto& [name, version] : addition.opsets) {
    const std::string domain = domain_of(name);
    if (version < 1)
      fail(ErrorCode::invalid_argument, "the operator set of domain '{}' has version {}, expected at least 1", name, version);
    const int before = graph.opset_imports.emplace(domain, version).first->second;
    if (before != version) {
      fail(ErrorCode::invalid_argument, "the operator set of domain '{}' cannot become version {}: the model has version {}", name, version,
           before);
    }
  }
  if (is_new && !graph.opset_imports.contains("")) {
    fail(ErrorCode::invalid_argument, "{}: the model names no version of ONNX's own operator set", fmt::format(words::kNoImport, ""));
  }
  if (addition.graph) GraphBuilder(graph).add(*addition.graph);
  check(graph);
}

}  // namespace rh::abi
