// Models that are built in memory: types, values, nodes and graphs.
#include <algorithm>
#include <cstring>
#include <utility>

#include "abi/model_builder.h"
#include "abi/type_info.h"
#include "base/known_words.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi::model_editor {

namespace {

OrtStatus* tensor(ONNXType kind, const OrtTensorTypeAndShapeInfo* shape, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "type_info");
    auto info = std::make_unique<OrtTypeInfo>();
    info->kind = kind;
    info->tensor = checked(shape, "tensor_info");
    *out = info.release();
  });
}

}  // namespace

OrtStatus* ORT_API_CALL CreateTensorTypeInfo(const OrtTensorTypeAndShapeInfo* shape, OrtTypeInfo** out) {
  return tensor(ONNX_TYPE_TENSOR, shape, out);
}

OrtStatus* ORT_API_CALL CreateSparseTensorTypeInfo(const OrtTensorTypeAndShapeInfo* shape, OrtTypeInfo** out) {
  return tensor(ONNX_TYPE_SPARSETENSOR, shape, out);
}

OrtStatus* ORT_API_CALL CreateMapTypeInfo(ONNXTensorElementDataType key, const OrtTypeInfo* value, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "type_info");
    auto info = std::make_unique<OrtTypeInfo>();
    info->kind = ONNX_TYPE_MAP;
    info->map.key = key;
    info->map.value = abi::copy(checked(value, "map_value_type"));
    *out = info.release();
  });
}

OrtStatus* ORT_API_CALL CreateSequenceTypeInfo(const OrtTypeInfo* element, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "type_info");
    auto info = std::make_unique<OrtTypeInfo>();
    info->kind = ONNX_TYPE_SEQUENCE;
    info->sequence.element = abi::copy(checked(element, "sequence_type"));
    *out = info.release();
  });
}

OrtStatus* ORT_API_CALL CreateOptionalTypeInfo(const OrtTypeInfo* contained, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "type_info");
    auto info = std::make_unique<OrtTypeInfo>();
    info->kind = ONNX_TYPE_OPTIONAL;
    info->optional.contained = abi::copy(checked(contained, "contained_type"));
    *out = info.release();
  });
}

// Values, nodes and graphs

namespace {

const char* named(const char* text, const char* argument) {
  if (!text || !*text) fail(ErrorCode::invalid_argument, "argument '{}' must not be null or empty", argument);
  return text;
}

/// The place of the first entry that stands twice; the size where none does.
template <typename T>
size_t find_repeated(std::span<T* const> entries) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (std::ranges::find(entries.first(i), entries[i]) != entries.first(i).end()) return i;
  }
  return entries.size();
}

/// The caller's array with no null in it.
template <typename T>
std::span<T* const> filled(T* const* entries, size_t count, const char* argument) {
  checked_array(entries, count, argument);
  for (size_t i = 0; i < count; ++i) {
    if (!entries[i]) fail(ErrorCode::invalid_argument, "argument '{}' has null at {}", argument, i);
  }
  return {entries, count};
}

OrtGraph& built(OrtGraph* graph) {
  if (!checked(graph, "graph").is_built) fail(ErrorCode::invalid_argument, "the graph is a view, which cannot be changed");
  return *graph;
}

/// Values of the node's own for these names; null for empty ones.
std::vector<const OrtValueInfo*> own_values(OrtNode& node, std::span<const char* const> names) {
  std::vector<const OrtValueInfo*> values;
  for (const char* name : names) {
    if (!*name) {
      values.push_back(nullptr);
      continue;
    }
    OrtValueInfo& value = node.own_values.emplace_back();
    value.name = name;
    values.push_back(&value);
  }
  return values;
}

/// The graph takes the caller's values over, and their pointers are cleared.
std::vector<const OrtValueInfo*> adopt(OrtGraph& graph, OrtValueInfo** values, size_t count, const char* argument) {
  for (OrtValueInfo* value : filled(values, count, argument)) {
    if (!value->is_callers) fail(ErrorCode::invalid_argument, "value '{}' has {} to a graph", value->name, words::kAdded);
    if (std::count(values, values + count, value) > 1)
      fail(ErrorCode::invalid_argument, "{} value '{}': a graph takes each one over", words::kTwice, value->name);
  }
  std::vector<const OrtValueInfo*> adopted;
  graph.adopted.reserve(graph.adopted.size() + count);
  for (OrtValueInfo*& value : std::span(values, count)) {
    value->is_callers = false;
    value->graph = &graph;
    adopted.push_back(value);
    graph.adopted.emplace_back(std::exchange(value, nullptr));
  }
  return adopted;
}

constexpr size_t kMinExternalBytes = 128;

/// The content of an initializer: the caller's memory where that stays in use, else memory of its own.
Tensor initializer_of(const OrtValue& value, bool data_is_external) {
  if (!value.value.is_tensor()) fail(ErrorCode::invalid_argument, "an initializer must be a tensor");
  const Tensor& tensor = value.value.tensor();
  if (!tensor.device().is_host()) fail(ErrorCode::invalid_argument, "an initializer must be in the memory of the CPU");
  if (!data_is_external) return tensor.owns_memory() ? tensor : tensor.clone();
  if (tensor.dtype() == DType::string) fail(ErrorCode::invalid_argument, "external data cannot hold strings");
  if (tensor.bytes() < kMinExternalBytes) {
    fail(ErrorCode::invalid_argument, "data_is_external is for tensors of at least {} bytes, this one has {}: copy the data",
         kMinExternalBytes, tensor.bytes());
  }
  return tensor;
}

}  // namespace

OrtStatus* ORT_API_CALL CreateValueInfo(const char* name, const OrtTypeInfo* type, OrtValueInfo** out) {
  return guard([&] {
    OrtValueInfo*& result = checked(out, "value_info");
    auto value = std::make_unique<OrtValueInfo>();
    value->name = named(name, "name");
    value->type = abi::copy(checked(type, "type_info"));
    value->is_callers = true;
    result = value.release();
  });
}

OrtStatus* ORT_API_CALL CreateNode(const char* op_type, const char* domain, const char* name, const char* const* inputs, size_t input_count,
                                   const char* const* outputs, size_t output_count, OrtOpAttr** attributes, size_t attribute_count,
                                   OrtNode** out) {
  return guard([&] {
    OrtNode*& result = checked(out, "node");
    auto node = std::make_unique<OrtNode>();
    node->op_type = named(op_type, "operator_name");
    node->domain = &checked(domain, "domain_name");
    node->name = &checked(name, "node_name");
    node->inputs = own_values(*node, filled(inputs, input_count, "input_names"));
    node->outputs = own_values(*node, filled(outputs, output_count, "output_names"));
    auto copies = std::make_shared<std::vector<OrtOpAttr>>();
    const std::span<OrtOpAttr* const> given = filled(attributes, attribute_count, "attributes");
    if (const size_t at = find_repeated(given); at < given.size()) {
      fail(ErrorCode::invalid_argument, "{} attribute '{}', the second time at {}: a node takes each one over", words::kTwice,
           given[at]->attribute.name, at);
    }
    for (const OrtOpAttr* attribute : given) copies->push_back(*attribute);
    node->attributes = std::move(copies);
    node->is_callers = true;
    for (OrtOpAttr*& attribute : std::span(attributes, attribute_count)) delete std::exchange(attribute, nullptr);
    result = node.release();
  });
}

OrtStatus* ORT_API_CALL CreateGraph(OrtGraph** out) {
  return guard([&] {
    OrtGraph*& result = checked(out, "graph");
    auto graph = std::make_unique<OrtGraph>();
    graph->is_built = graph->is_callers = true;
    result = graph.release();
  });
}

OrtStatus* ORT_API_CALL SetGraphInputs(OrtGraph* graph, OrtValueInfo** inputs, size_t count) {
  return guard([&] {
    OrtGraph& target = built(graph);
    target.inputs = adopt(target, inputs, count, "inputs");
  });
}

OrtStatus* ORT_API_CALL SetGraphOutputs(OrtGraph* graph, OrtValueInfo** outputs, size_t count) {
  return guard([&] {
    OrtGraph& target = built(graph);
    target.outputs = adopt(target, outputs, count, "outputs");
  });
}

OrtStatus* ORT_API_CALL AddInitializerToGraph(OrtGraph* graph, const char* name, OrtValue* value, bool data_is_external) {
  return guard([&] {
    OrtGraph& target = built(graph);
    named(name, "name");
    if (checked(value, "tensor").in_graph) {
      fail(ErrorCode::invalid_argument, "the value of initializer '{}' has {} to a graph, which took it over", name, words::kAdded);
    }
    if (target.find(name)) fail(ErrorCode::invalid_argument, "{} initializer '{}': the graph has one of this name", words::kTwice, name);
    Value content(initializer_of(*value, data_is_external));
    OrtValueInfo& initializer = target.add_value(name);
    initializer.type = abi::type_info_of(content);
    initializer.is_constant = true;
    initializer.initializer = std::make_shared<const abi::Initializer>(std::move(content));
    target.initializers.push_back(&initializer);
    target.adopted_initializers.emplace_back(value);  // callers may go on to look at it
    value->in_graph = true;
  });
}

OrtStatus* ORT_API_CALL AddNodeToGraph(OrtGraph* graph, OrtNode* node) {
  return guard([&] {
    OrtGraph& target = built(graph);
    if (!checked(node, "node").is_callers) fail(ErrorCode::invalid_argument, "node '{}' has {} to a graph", node->name, words::kAdded);
    node->id = static_cast<NodeId>(target.nodes.size());
    target.nodes.emplace_back(node);
    node->graph = &target;
    node->is_callers = false;
  });
}

// Models

OrtStatus* ORT_API_CALL CreateModel(const char* const* domains, const int* versions, size_t count, OrtModel** out) {
  return guard([&] {
    OrtModel*& result = checked(out, "model");
    checked_array(versions, count, "opset_versions");
    auto model = std::make_unique<OrtModel>();
    filled(domains, count, "domain_names");
    for (size_t i = 0; i < count; ++i) model->opsets.emplace_back(domains[i], versions[i]);
    result = model.release();
  });
}

OrtStatus* ORT_API_CALL AddGraphToModel(OrtModel* model, OrtGraph* graph) {
  return guard([&] {
    OrtModel& target = checked(model, "model");
    if (!built(graph).is_callers) fail(ErrorCode::invalid_argument, "the graph belongs to a model already");
    if (target.graph) fail(ErrorCode::invalid_argument, "the model has a graph already, expected one that has none");
    graph->is_callers = false;
    target.graph.reset(graph);
  });
}

}  // namespace rh::capi::model_editor

namespace rh::capi {

void ORT_API_CALL ReleaseModel(OrtModel* model) { delete model; }

}  // namespace rh::capi
