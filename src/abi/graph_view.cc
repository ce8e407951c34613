#include "abi/graph_view.h"

#include "base/file.h"
#include "base/paths.h"
#include "ops/channels_last.h"
#include "ops/default_attributes.h"

OrtNode::OrtNode() = default;
OrtNode::~OrtNode() = default;

OrtOpAttrType OrtOpAttr::type() const {
  if (attribute.get<int64_t>()) return ORT_OP_ATTR_INT;
  if (attribute.get<float>()) return ORT_OP_ATTR_FLOAT;
  if (attribute.get<std::string>()) return ORT_OP_ATTR_STRING;
  if (attribute.get<std::vector<int64_t>>()) return ORT_OP_ATTR_INTS;
  if (attribute.get<std::vector<float>>()) return ORT_OP_ATTR_FLOATS;
  if (attribute.get<std::vector<std::string>>()) return ORT_OP_ATTR_STRINGS;
  if (attribute.get<std::shared_ptr<rh::Graph>>()) return ORT_OP_ATTR_GRAPH;
  if (attribute.get<rh::Tensor>()) return ORT_OP_ATTR_TENSOR;
  return ORT_OP_ATTR_UNDEFINED;
}

const OrtOpAttr* OrtNode::attribute(std::string_view wanted) const {
  for (const OrtOpAttr& entry : *attributes) {
    if (entry.attribute.name == wanted) return &entry;
  }
  return nullptr;
}

OrtValueInfo& OrtGraph::add_value(std::string_view value_name) {
  OrtValueInfo& value = values.emplace_back();
  value.name = value_name;
  value.graph = this;
  by_name.emplace(value.name, &value);
  return value;
}

OrtValueInfo* OrtGraph::find(std::string_view value_name) const {
  const auto at = by_name.find(value_name);
  return at == by_name.end() ? nullptr : at->second;
}

namespace rh::abi {

namespace {

bool is_aligned(const Value& value) {
  return !value.is_tensor() || is_aligned_for(value.tensor().dtype(), reinterpret_cast<uintptr_t>(value.tensor().raw()));
}

}  // namespace

Initializer::Initializer(Value content, bool any_address) : own_(std::move(content)), is_shown_(any_address || is_aligned(own_.value)) {}

const OrtValue& Initializer::shown() const {
  if (is_shown_) return own_;
  const OrtValue* known = copy_.load();
  if (known) return *known;
  const Tensor& own = own_.value.tensor();
  auto made = std::make_unique<const OrtValue>(Value(own.clone()));
  forget_mapped_pages(own.raw(), own.bytes());
  return copy_.compare_exchange_strong(known, made.get()) ? *made.release() : *known;
}

namespace {

/// Symbols that the model's author named stay; others are for nobody else.
ValueType public_type(ValueType type) {
  if (type.kind() != ValueType::Kind::tensor && type.kind() != ValueType::Kind::sparse_tensor) return type;
  if (!type.tensor().has_rank()) return type;
  for (Dim& dim : *type.tensor().dims) {
    if (is_generated_symbol(dim.symbol_name())) dim = Dim();
  }
  return type;
}

std::shared_ptr<const OrtExternalInitializerInfo> external_info(const ExternalLocation& location) {
  return std::make_shared<OrtExternalInitializerInfo>(OrtExternalInitializerInfo{as_path(location.file), location.offset, location.bytes});
}

std::vector<OrtOpAttr> attributes_of(const Node& node, const ops::OpSchema* schema) {
  std::vector<OrtOpAttr> attributes;
  for (const Attribute& attribute : node.attributes) {
    const bool is_graph = attribute.get<std::shared_ptr<Graph>>();
    attributes.push_back({is_graph ? Attribute{attribute.name, std::shared_ptr<Graph>()} : attribute});
  }
  if (!schema) return attributes;
  for (const ops::SchemaAttribute& attribute : schema->attributes) {
    if (node.attribute(attribute.name)) continue;
    if (auto given = ops::default_attribute(attribute)) attributes.push_back({std::move(*given)});
  }
  return attributes;
}

class ViewBuilder {
 public:
  ViewBuilder(const Graph& graph, const GraphViewSource& source, OrtGraph& view, const OrtGraph* enclosing)
      : graph_(graph), source_(source), view_(view), enclosing_(enclosing), values_(static_cast<size_t>(graph.value_count())) {}

  void build() {
    view_.model = source_.model;
    view_.model_path = as_path(view_.model->path);
    view_.source = &graph_;
    view_.name = graph_.name;
    view_.model_graph = enclosing_ ? enclosing_->model_graph : graph_.name;
    view_.opsets.assign(graph_.opset_imports.begin(), graph_.opset_imports.end());
    for (ValueId id : graph_.inputs()) view_.inputs.push_back(value(id));
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      const GraphValue& entry = graph_.value(id);
      if (entry.initializer.empty() || entry.outer != kNoValue) continue;
      if (!entry.consumers.empty() || entry.is_input || entry.is_output) view_.initializers.push_back(value(id));
    }
    for (NodeId id : graph_.topological_order()) add_node(graph_.node(id));
    for (ValueId id : graph_.outputs()) view_.outputs.push_back(value(id));
  }

 private:
  OrtValueInfo* value(ValueId id) {
    if (id == kNoValue) return nullptr;
    OrtValueInfo*& info = values_[static_cast<size_t>(id)];
    if (!info) info = make_value(graph_.value(id));
    return info;
  }

  OrtValueInfo* make_value(const GraphValue& from) {
    OrtValueInfo& info = view_.add_value(from.name);
    info.is_output = from.is_output;
    if (from.outer != kNoValue) {
      info.is_outer = true;
      if (const OrtValueInfo* outer = enclosing_ ? enclosing_->find(from.name) : nullptr) {
        info.type = outer->type;
        info.initializer = outer->initializer;
        info.external = outer->external;
        info.is_constant = outer->is_constant;
        info.is_optional_input = outer->is_optional_input;
        return &info;
      }
    }
    const ValueType type = with_hint(public_type(from.type), from.hint);
    if (!type.is_unknown()) info.type = type_info_of(type);
    if (!from.initializer.empty()) info.initializer = std::make_shared<const Initializer>(from.initializer, source_.any_address);
    if (from.is_input) info.mark_input();
    info.is_constant = from.is_constant();
    if (from.external) info.external = external_info(*from.external);
    return &info;
  }

  void add_node(const Node& from) {
    OrtNode& node = *view_.nodes.emplace_back(std::make_unique<OrtNode>());
    node.id = from.id;
    node.name = from.name;
    node.domain = from.domain;
    node.op_type = from.op_type;
    node.graph = &view_;
    const ops::OpSchema* schema = ops::find_signature(from.domain, from.op_type, from.opset);
    node.since_version = schema ? schema->since_version : 1;
    if (source_.provider) node.provider = source_.provider(graph_, from.id);
    for (size_t i = 0; i < from.inputs.size(); ++i) {
      OrtValueInfo* input = value(from.inputs[i]);
      node.inputs.push_back(input);
      if (input) input->consumers.push_back({&node, static_cast<int64_t>(i)});
    }
    for (ValueId id : from.implicit_inputs) {
      OrtValueInfo* input = value(id);
      node.implicit_inputs.push_back(input);
      input->consumers.push_back({&node, -1});
    }
    for (size_t i = 0; i < from.outputs.size(); ++i) {
      OrtValueInfo* output = value(from.outputs[i]);
      node.outputs.push_back(output);
      if (!output) continue;
      output->producer = &node;
      output->output_index = i;
    }
    node.attributes = std::make_shared<const std::vector<OrtOpAttr>>(attributes_of(from, schema));
    for (const Attribute& attribute : from.attributes) {
      if (const auto* subgraph = attribute.get<std::shared_ptr<Graph>>()) add_subgraph(node, attribute.name, **subgraph);
    }
  }

  void add_subgraph(OrtNode& node, const std::string& attribute, const Graph& subgraph) {
    auto view = std::make_unique<OrtGraph>();
    view->parent = &node;
    ViewBuilder(subgraph, source_, *view, &view_).build();
    node.subgraphs.push_back({attribute, std::move(view)});
  }

  const Graph& graph_;
  const GraphViewSource& source_;
  OrtGraph& view_;
  const OrtGraph* enclosing_;
  std::vector<OrtValueInfo*> values_;
};

}  // namespace

std::unique_ptr<OrtGraph> make_graph_view(const Graph& graph, const GraphViewSource& source, const OrtNode* parent) {
  auto view = std::make_unique<OrtGraph>();
  view->parent = parent;
  ViewBuilder(graph, source, *view, parent ? parent->graph : nullptr).build();
  return view;
}

const OrtNode* find_parent(const OrtGraph& view, const Graph& body) {
  for (const auto& node : view.nodes) {
    for (const OrtNode::Subgraph& subgraph : node->subgraphs) {
      if (subgraph.graph->source == &body) return node.get();
      if (const OrtNode* parent = find_parent(*subgraph.graph, body)) return parent;
    }
  }
  return nullptr;
}

}  // namespace rh::abi
