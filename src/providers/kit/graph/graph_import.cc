#include "providers/kit/graph/graph_import.h"

#include <algorithm>

#include "base/paths.h"
#include "ops/channels_last.h"
#include "ops/inference.h"
#include "providers/kit/graph/value_import.h"

namespace rh::kit {

namespace {

std::string domain_of(std::string name) { return name == "ai.onnx" ? std::string() : std::move(name); }

class Importer {
 public:
  Importer(const Host& host, Graph& graph, Importer* enclosing) : host_(host), api_(*host.api), graph_(graph), enclosing_(enclosing) {}

  void import(const OrtGraph& from, std::vector<const OrtNode*>* handles) {
    graph_.name = text_of(host_, api_.Graph_GetName, &from);
    import_opsets(from);
    std::vector<ValueId> inputs, outputs;
    for (const OrtValueInfo* input : list_of(host_, api_.Graph_GetNumInputs, api_.Graph_GetInputs, from)) {
      const ValueId id = own_value(*input);
      if (!flag(api_.ValueInfo_IsConstantInitializer, *input)) inputs.push_back(id);  // a unit's node takes constants, its graph has them
    }
    graph_.set_inputs(inputs);
    for (const OrtValueInfo* one : list_of(host_, api_.Graph_GetNumInitializers, api_.Graph_GetInitializers, from)) {
      set_initializer(own_value(*one), *one);
    }
    const auto nodes = list_of(host_, api_.Graph_GetNumNodes, api_.Graph_GetNodes, from);
    for (const OrtNode* node : nodes) declare_outputs(*node);
    for (const OrtNode* node : nodes) {
      add_node(*node);
      if (handles) handles->push_back(node);
    }
    for (const OrtValueInfo* output : list_of(host_, api_.Graph_GetNumOutputs, api_.Graph_GetOutputs, from))
      outputs.push_back(use(*output));
    graph_.set_outputs(outputs);
  }

  void import_alone(const OrtNode& node, const OrtGraph* owner) {
    if (owner) import_opsets(*owner);
    declare_outputs(node);
    add_node(node);
    for (ValueId output : graph_.node(0).outputs) {
      if (output != kNoValue) graph_.add_output(output);
    }
  }

 private:
  std::string name_of(const OrtValueInfo& value) { return text_of(host_, api_.GetValueInfoName, &value); }

  bool flag(OrtStatus*(ORT_API_CALL* get)(const OrtValueInfo*, bool*), const OrtValueInfo& value) {
    bool is = false;
    check(host_, get(&value, &is));
    return is;
  }

  void import_opsets(const OrtGraph& from) {
    size_t count = 0;
    check(host_, api_.Graph_GetNumOperatorSets(&from, &count));
    std::vector<const char*> domains(count);
    std::vector<int64_t> versions(count);
    check(host_, api_.Graph_GetOperatorSets(&from, domains.data(), versions.data(), count));
    for (size_t i = 0; i < count; ++i) graph_.opset_imports.emplace(domain_of(domains[i]), static_cast<int>(versions[i]));
  }

  ValueType type_of(const OrtValueInfo& value) {
    const OrtTypeInfo* type = nullptr;
    check(host_, api_.GetValueInfoTypeInfo(&value, &type));
    return type ? import_type(host_, *type) : ValueType();
  }

  ValueId own_value(const OrtValueInfo& value) {
    const std::string name = name_of(value);
    const ValueId known = graph_.find_value(name);
    return known != kNoValue ? known : graph_.add_value(name, type_of(value));
  }

  void set_initializer(ValueId id, const OrtValueInfo& value) {
    const OrtValue* content = nullptr;
    check(host_, api_.ValueInfo_GetInitializerValue(&value, &content));
    if (!content) return;
    ONNXType kind = ONNX_TYPE_UNKNOWN;
    check(host_, api_.GetValueType(content, &kind));
    if (kind != ONNX_TYPE_TENSOR) {  // sparse: it comes with a run, as any other value
      if (!graph_.value(id).is_input) graph_.make_input(id);
      return;
    }
    graph_.set_initializer(id, import_tensor(host_, *content));
    OrtExternalInitializerInfo* external = nullptr;
    check(host_, api_.ValueInfo_GetExternalInitializerInfo(&value, &external));
    if (!external) return;
    graph_.set_external(id, {utf8(api_.ExternalInitializerInfo_GetFilePath(external)), api_.ExternalInitializerInfo_GetFileOffset(external),
                             api_.ExternalInitializerInfo_GetByteSize(external)});
    api_.ReleaseExternalInitializerInfo(external);
  }

  /// A value that is used: of this graph, or of one around it.
  ValueId use(const OrtValueInfo& value) {
    const std::string name = name_of(value);
    const ValueId known = graph_.find_value(name);
    if (known != kNoValue) return known;
    if (enclosing_) {
      const ValueId outer = enclosing_->use(value);
      const GraphValue& entry = enclosing_->graph_.value(outer);
      return graph_.add_outer(name, outer, entry.type);
    }
    if (flag(api_.ValueInfo_IsConstantInitializer, value)) {
      const ValueId id = graph_.add_value(name, type_of(value));
      set_initializer(id, value);
      return id;
    }
    return graph_.add_input(name, type_of(value));
  }

  /// Where a host tells of a result's size that it is 0, it may not have known it: ONNX Runtime does so for Attention of three dimensions.
  static ValueType without_zeros(ValueType type) {
    if (!type.is_tensor() || !type.tensor().has_rank()) return type;
    TensorType known = type.tensor();
    std::ranges::replace_if(*known.dims, [](const Dim& dim) { return dim.is_constant(0); }, Dim());
    return known;
  }

  void declare_outputs(const OrtNode& node) {
    for (const OrtValueInfo* output : list_of(host_, api_.Node_GetNumOutputs, api_.Node_GetOutputs, node)) {
      if (!output) continue;
      const ValueId id = own_value(*output);
      graph_.set_type(id, without_zeros(graph_.value(id).type));
    }
  }

  void add_node(const OrtNode& from) {
    Node node;
    node.name = text_of(host_, api_.Node_GetName, &from);
    node.domain = domain_of(text_of(host_, api_.Node_GetDomain, &from));
    node.op_type = text_of(host_, api_.Node_GetOperatorType, &from);
    node.opset = opset_of(from, node);
    for (const OrtValueInfo* input : list_of(host_, api_.Node_GetNumInputs, api_.Node_GetInputs, from)) {
      node.inputs.push_back(is_left_out(input) ? kNoValue : use(*input));
    }
    for (const OrtValueInfo* output : list_of(host_, api_.Node_GetNumOutputs, api_.Node_GetOutputs, from)) {
      node.outputs.push_back(is_left_out(output) ? kNoValue : own_value(*output));
    }
    for (const OrtOpAttr* attribute : list_of(host_, api_.Node_GetNumAttributes, api_.Node_GetAttributes, from)) {
      OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
      check(host_, api_.OpAttr_GetType(attribute, &type));
      if (type != ORT_OP_ATTR_GRAPH) node.attributes.push_back(read(*attribute, type));
    }
    import_bodies(from, node);
    node.provenance.push_back(std::make_shared<const OriginalNode>(
        OriginalNode{node.name, node.op_type, static_cast<int32_t>(graph_.node_count()), node.domain, node.opset, nullptr}));
    graph_.add_node(std::move(node));
  }

  bool is_left_out(const OrtValueInfo* value) { return !value || name_of(*value).empty(); }

  // The graph's import where that has this version of the operator: nodes of functions may be of another.
  int opset_of(const OrtNode& from, const Node& node) {
    int since = 0;
    check(host_, api_.Node_GetSinceVersion(&from, &since));
    const auto import = graph_.opset_imports.find(node.domain);
    if (import == graph_.opset_imports.end()) return since;
    const ops::OpSchema* schema = ops::find_signature(node.domain, node.op_type, import->second);
    return !schema || schema->since_version == since ? import->second : since;
  }

  void import_bodies(const OrtNode& from, Node& node) {
    size_t count = 0;
    check(host_, api_.Node_GetNumSubgraphs(&from, &count));
    std::vector<const OrtGraph*> bodies(count);
    std::vector<const char*> names(count);
    if (count > 0) check(host_, api_.Node_GetSubgraphs(&from, bodies.data(), count, names.data()));
    for (size_t i = 0; i < count; ++i) {
      auto body = std::make_shared<Graph>();
      Importer(host_, *body, this).import(*bodies[i], nullptr);
      node.attributes.push_back({names[i], std::move(body)});
    }
  }

  template <typename T>
  std::vector<T> elements(const OrtOpAttr& attribute, OrtOpAttrType type) {
    size_t bytes = 0;
    api_.ReleaseStatus(api_.ReadOpAttr(&attribute, type, nullptr, 0, &bytes));  // fails for want of room, and says how much
    std::vector<T> values(bytes / sizeof(T));
    if (!values.empty()) check(host_, api_.ReadOpAttr(&attribute, type, values.data(), bytes, &bytes));
    return values;
  }

  Attribute read(const OrtOpAttr& attribute, OrtOpAttrType type) {
    std::string name = text_of(host_, api_.OpAttr_GetName, &attribute);
    switch (type) {
      case ORT_OP_ATTR_INT: return {name, elements<int64_t>(attribute, type).at(0)};
      case ORT_OP_ATTR_FLOAT: return {name, elements<float>(attribute, type).at(0)};
      case ORT_OP_ATTR_INTS: return {name, elements<int64_t>(attribute, type)};
      case ORT_OP_ATTR_FLOATS: return {name, elements<float>(attribute, type)};
      case ORT_OP_ATTR_STRING: {
        const std::vector<char> text = elements<char>(attribute, type);
        return {name, std::string(text.begin(), text.end())};
      }
      case ORT_OP_ATTR_STRINGS: return {name, strings_of(elements<char>(attribute, type))};
      case ORT_OP_ATTR_TENSOR: {
        OrtValue* value = nullptr;
        check(host_, api_.OpAttr_GetTensorAttributeAsOrtValue(&attribute, &value));
        const std::unique_ptr<OrtValue, void(ORT_API_CALL*)(OrtValue*)> owner(value, api_.ReleaseValue);
        return {name, import_tensor(host_, *value).clone()};
      }
      default: return {name, std::monostate{}};  // kinds that the interface has no number for
    }
  }

  /// Of strings that stand one after the other, each with its null.
  static std::vector<std::string> strings_of(const std::vector<char>& text) {
    std::vector<std::string> strings;
    for (auto at = text.begin(); at != text.end();) {
      const auto end = std::find(at, text.end(), '\0');
      strings.emplace_back(at, end);
      at = end == text.end() ? end : end + 1;
    }
    return strings;
  }

  const Host& host_;
  const OrtApi& api_;
  Graph& graph_;
  Importer* enclosing_;
};

// What the interface does not tell of an attribute, a type of an optional, inference would miss: the host's own types stay.
bool keep_declared_types(const NodeView& node, InferenceContext& context) {
  const auto is_untold = [](const Attribute& attribute) { return attribute.get<std::monostate>() != nullptr; };
  if (std::ranges::none_of(node.node().attributes, is_untold)) return false;
  for (int i = 0; i < node.output_count(); ++i) {
    if (node.has_output(i)) context.set_output(i, node.graph().value(node.node().outputs[static_cast<size_t>(i)]).type);
  }
  return true;
}

}  // namespace

ImportedGraph import_graph(const Host& host, const OrtGraph& graph) {
  ImportedGraph imported{std::make_shared<Graph>(), {}};
  Importer(host, *imported.graph, nullptr).import(graph, &imported.nodes);
  infer_types(*imported.graph, {.custom = keep_declared_types});
  return imported;
}

ImportedGraph import_node(const Host& host, const OrtNode& node) {
  ImportedGraph imported{std::make_shared<Graph>(), {&node}};
  const OrtGraph* owner = nullptr;
  check(host, host.api->Node_GetGraph(&node, &owner));
  Importer(host, *imported.graph, nullptr).import_alone(node, owner);
  infer_types(*imported.graph, {.custom = keep_declared_types});
  return imported;
}

void own_constants_of_bodies(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [](Graph& body) {
      for (ValueId value = 0; value < body.value_count(); ++value) {
        const GraphValue& entry = body.value(value);
        if (entry.outer == kNoValue && entry.initializer.is_tensor()) body.set_initializer(value, entry.initializer.tensor().clone());
      }
      own_constants_of_bodies(body);
    });
  }
}

}  // namespace rh::kit
