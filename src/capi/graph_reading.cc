// Reading graph views: the graph and its values.
#include <algorithm>

#include "abi/graph_view.h"
#include "capi/copy_out.h"
#include "capi/guard.h"
#include "capi/session.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

/// A value whose place in its graph is known. Throws Error{not_implemented} for values that callers made.
const OrtValueInfo& placed(const OrtValueInfo* value) {
  if (checked(value, "value_info").is_callers || (value->graph && value->graph->is_built)) {
    fail(ErrorCode::not_implemented, "value '{}' is one of a graph that is being built: what gives and takes it is not known", value->name);
  }
  return *value;
}

}  // namespace

// The graph

OrtStatus* ORT_API_CALL Graph_GetName(const OrtGraph* graph, const char** out) {
  return guard([&] { checked(out, "graph_name") = checked(graph, "graph").name.c_str(); });
}

OrtStatus* ORT_API_CALL Graph_GetModelPath(const OrtGraph* graph, const ORTCHAR_T** out) {
  return guard([&] { checked(out, "model_path") = checked(graph, "graph").model_path.c_str(); });
}

OrtStatus* ORT_API_CALL Graph_GetOnnxIRVersion(const OrtGraph* graph, int64_t* out) {
  return guard([&] { checked(out, "onnx_ir_version") = checked(graph, "graph").model->ir_version; });
}

OrtStatus* ORT_API_CALL Graph_GetNumOperatorSets(const OrtGraph* graph, size_t* out) {
  return guard([&] { checked(out, "num_operator_sets") = checked(graph, "graph").opsets.size(); });
}

OrtStatus* ORT_API_CALL Graph_GetOperatorSets(const OrtGraph* graph, const char** domains, int64_t* versions, size_t count) {
  return guard([&] {
    const auto& opsets = checked(graph, "graph").opsets;
    check_room(domains, opsets.size(), count, "domains");
    check_room(versions, opsets.size(), count, "opset_versions");
    for (size_t i = 0; i < opsets.size(); ++i) {
      domains[i] = opsets[i].first.c_str();
      versions[i] = opsets[i].second;
    }
  });
}

OrtStatus* ORT_API_CALL Graph_GetNumInputs(const OrtGraph* graph, size_t* out) {
  return guard([&] { checked(out, "num_inputs") = checked(graph, "graph").inputs.size(); });
}

OrtStatus* ORT_API_CALL Graph_GetInputs(const OrtGraph* graph, const OrtValueInfo** out, size_t count) {
  return guard([&] { copy_out(checked(graph, "graph").inputs, out, count, "inputs"); });
}

OrtStatus* ORT_API_CALL Graph_GetNumOutputs(const OrtGraph* graph, size_t* out) {
  return guard([&] { checked(out, "num_outputs") = checked(graph, "graph").outputs.size(); });
}

OrtStatus* ORT_API_CALL Graph_GetOutputs(const OrtGraph* graph, const OrtValueInfo** out, size_t count) {
  return guard([&] { copy_out(checked(graph, "graph").outputs, out, count, "outputs"); });
}

OrtStatus* ORT_API_CALL Graph_GetNumInitializers(const OrtGraph* graph, size_t* out) {
  return guard([&] { checked(out, "num_initializers") = checked(graph, "graph").initializers.size(); });
}

OrtStatus* ORT_API_CALL Graph_GetInitializers(const OrtGraph* graph, const OrtValueInfo** out, size_t count) {
  return guard([&] { copy_out(checked(graph, "graph").initializers, out, count, "initializers"); });
}

OrtStatus* ORT_API_CALL Graph_GetNumNodes(const OrtGraph* graph, size_t* out) {
  return guard([&] { checked(out, "num_nodes") = checked(graph, "graph").nodes.size(); });
}

OrtStatus* ORT_API_CALL Graph_GetNodes(const OrtGraph* graph, const OrtNode** out, size_t count) {
  return guard([&] {
    const auto& nodes = checked(graph, "graph").nodes;
    check_room(out, nodes.size(), count, "nodes");
    std::ranges::transform(nodes, out, [](const auto& node) { return node.get(); });
  });
}

OrtStatus* ORT_API_CALL Graph_GetParentNode(const OrtGraph* graph, const OrtNode** out) {
  return guard([&] { checked(out, "node") = checked(graph, "graph").parent; });
}

OrtStatus* ORT_API_CALL Graph_GetGraphView(const OrtGraph* graph, const OrtNode** nodes, size_t count, OrtGraph** out) {
  return guard([&] {
    OrtGraph*& result = checked(out, "dst_graph");
    const OrtNode* const* first = checked_array(nodes, count, "nodes");
    if (checked(graph, "src_graph").is_built) fail(ErrorCode::not_implemented, "a graph that is being built has no views of its nodes");
    auto view = abi::make_subset_view(*graph, {first, count});
    view->is_callers = true;
    result = view.release();
  });
}

OrtStatus* ORT_API_CALL Graph_GetModelMetadata(const OrtGraph* graph, OrtModelMetadata** out) {
  return guard([&] {
    OrtModelMetadata*& result = checked(out, "out");
    const OrtGraph& source = checked(graph, "graph");
    const ModelInfo& model = *source.model;
    result = new OrtModelMetadata{{model.producer_name, source.model_graph, model.domain, model.description, model.graph_description,
                                   model.model_version, model.metadata}};
  });
}

void ORT_API_CALL ReleaseGraph(OrtGraph* graph) {
  if (graph && graph->is_callers) delete graph;
}

// Values

OrtStatus* ORT_API_CALL GetValueInfoName(const OrtValueInfo* value, const char** out) {
  return guard([&] { checked(out, "name") = checked(value, "value_info").name.c_str(); });
}

OrtStatus* ORT_API_CALL GetValueInfoTypeInfo(const OrtValueInfo* value, const OrtTypeInfo** out) {
  return guard([&] { checked(out, "type_info") = checked(value, "value_info").type.get(); });
}

OrtStatus* ORT_API_CALL ValueInfo_GetValueProducer(const OrtValueInfo* value, const OrtNode** node, size_t* output_index) {
  return guard([&] {
    checked(node, "producer_node") = placed(value).producer;
    if (output_index) *output_index = value->output_index;
  });
}

OrtStatus* ORT_API_CALL ValueInfo_GetValueNumConsumers(const OrtValueInfo* value, size_t* out) {
  return guard([&] { checked(out, "num_consumers") = placed(value).consumers.size(); });
}

OrtStatus* ORT_API_CALL ValueInfo_GetValueConsumers(const OrtValueInfo* value, const OrtNode** nodes, int64_t* input_indices,
                                                    size_t count) {
  return guard([&] {
    const auto& consumers = placed(value).consumers;
    check_room(nodes, consumers.size(), count, "nodes");
    check_room(input_indices, consumers.size(), count, "input_indices");
    for (size_t i = 0; i < consumers.size(); ++i) {
      nodes[i] = consumers[i].node;
      input_indices[i] = consumers[i].input;
    }
  });
}

OrtStatus* ORT_API_CALL ValueInfo_GetInitializerValue(const OrtValueInfo* value, const OrtValue** out) {
  return guard([&] {
    const auto& initializer = checked(value, "value_info").initializer;
    checked(out, "initializer_value") = initializer ? &initializer->shown() : nullptr;
  });
}

OrtStatus* ORT_API_CALL ValueInfo_GetExternalInitializerInfo(const OrtValueInfo* value, OrtExternalInitializerInfo** out) {
  return guard([&] {
    OrtExternalInitializerInfo*& result = checked(out, "info");
    const auto& external = checked(value, "value_info").external;
    result = external ? new OrtExternalInitializerInfo(*external) : nullptr;
  });
}

OrtStatus* ORT_API_CALL ValueInfo_IsRequiredGraphInput(const OrtValueInfo* value, bool* out) {
  return guard([&] { checked(out, "is_required_graph_input") = checked(value, "value_info").is_required_input; });
}

OrtStatus* ORT_API_CALL ValueInfo_IsOptionalGraphInput(const OrtValueInfo* value, bool* out) {
  return guard([&] { checked(out, "is_optional_graph_input") = checked(value, "value_info").is_optional_input; });
}

OrtStatus* ORT_API_CALL ValueInfo_IsGraphOutput(const OrtValueInfo* value, bool* out) {
  return guard([&] { checked(out, "is_graph_output") = checked(value, "value_info").is_output; });
}

OrtStatus* ORT_API_CALL ValueInfo_IsConstantInitializer(const OrtValueInfo* value, bool* out) {
  return guard([&] { checked(out, "is_constant_initializer") = checked(value, "value_info").is_constant; });
}

OrtStatus* ORT_API_CALL ValueInfo_IsFromOuterScope(const OrtValueInfo* value, bool* out) {
  return guard([&] { checked(out, "is_from_outer_scope") = checked(value, "value_info").is_outer; });
}

void ORT_API_CALL ReleaseValueInfo(OrtValueInfo* value) {
  if (value && value->is_callers) delete value;
}

// Data outside of the model file

OrtStatus* ORT_API_CALL CreateExternalInitializerInfo(const ORTCHAR_T* file, int64_t offset, size_t bytes,
                                                      OrtExternalInitializerInfo** out) {
  return guard([&] {
    OrtExternalInitializerInfo*& result = checked(out, "out");
    result = new OrtExternalInitializerInfo{&checked(file, "filepath"), offset, bytes};
  });
}

void ORT_API_CALL ReleaseExternalInitializerInfo(OrtExternalInitializerInfo* info) { delete info; }
const ORTCHAR_T* ORT_API_CALL ExternalInitializerInfo_GetFilePath(const OrtExternalInitializerInfo* info) {
  return info ? info->file.c_str() : nullptr;
}
int64_t ORT_API_CALL ExternalInitializerInfo_GetFileOffset(const OrtExternalInitializerInfo* info) { return info ? info->offset : 0; }
size_t ORT_API_CALL ExternalInitializerInfo_GetByteSize(const OrtExternalInitializerInfo* info) { return info ? info->bytes : 0; }

}  // namespace rh::capi
