// Reading the nodes of graph views.
#include "abi/graph_view.h"
#include "capi/copy_out.h"
#include "capi/guard.h"
#include "capi/table.h"
#include "ops/channels_last.h"

namespace rh::capi {

OrtStatus* ORT_API_CALL Node_GetId(const OrtNode* node, size_t* out) {
  return guard([&] { checked(out, "node_id") = static_cast<size_t>(checked(node, "node").id); });
}

OrtStatus* ORT_API_CALL Node_GetName(const OrtNode* node, const char** out) {
  return guard([&] { checked(out, "node_name") = checked(node, "node").name.c_str(); });
}

OrtStatus* ORT_API_CALL Node_GetOperatorType(const OrtNode* node, const char** out) {
  return guard([&] { checked(out, "operator_type") = checked(node, "node").op_type.c_str(); });
}

OrtStatus* ORT_API_CALL Node_GetDomain(const OrtNode* node, const char** out) {
  return guard([&] { checked(out, "domain_name") = checked(node, "node").domain.c_str(); });
}

OrtStatus* ORT_API_CALL Node_GetSinceVersion(const OrtNode* node, int* out) {
  return guard([&] {
    int& version = checked(out, "since_version");
    version = checked(node, "node").since_version;
    if (version == 0) fail(ErrorCode::not_implemented, "node '{}' is being built: the version of its operator is not known", node->name);
  });
}

OrtStatus* ORT_API_CALL Node_GetNumInputs(const OrtNode* node, size_t* out) {
  return guard([&] { checked(out, "num_inputs") = checked(node, "node").inputs.size(); });
}

OrtStatus* ORT_API_CALL Node_GetInputs(const OrtNode* node, const OrtValueInfo** out, size_t count) {
  return guard([&] { copy_out(checked(node, "node").inputs, out, count, "inputs"); });
}

OrtStatus* ORT_API_CALL Node_GetNumOutputs(const OrtNode* node, size_t* out) {
  return guard([&] { checked(out, "num_outputs") = checked(node, "node").outputs.size(); });
}

OrtStatus* ORT_API_CALL Node_GetOutputs(const OrtNode* node, const OrtValueInfo** out, size_t count) {
  return guard([&] { copy_out(checked(node, "node").outputs, out, count, "outputs"); });
}

OrtStatus* ORT_API_CALL Node_GetNumImplicitInputs(const OrtNode* node, size_t* out) {
  return guard([&] { checked(out, "num_implicit_inputs") = checked(node, "node").implicit_inputs.size(); });
}

OrtStatus* ORT_API_CALL Node_GetImplicitInputs(const OrtNode* node, const OrtValueInfo** out, size_t count) {
  return guard([&] { copy_out(checked(node, "node").implicit_inputs, out, count, "implicit_inputs"); });
}

OrtStatus* ORT_API_CALL Node_GetNumAttributes(const OrtNode* node, size_t* out) {
  return guard([&] { checked(out, "num_attributes") = checked(node, "node").attributes->size(); });
}

OrtStatus* ORT_API_CALL Node_GetAttributes(const OrtNode* node, const OrtOpAttr** out, size_t count) {
  return guard([&] {
    const auto& attributes = *checked(node, "node").attributes;
    check_room(out, attributes.size(), count, "attributes");
    std::ranges::transform(attributes, out, [](const OrtOpAttr& attribute) { return &attribute; });
  });
}

OrtStatus* ORT_API_CALL Node_GetAttributeByName(const OrtNode* node, const char* name, const OrtOpAttr** out) {
  return guard([&] {
    const OrtOpAttr*& result = checked(out, "attribute");
    result = checked(node, "node").attribute(&checked(name, "attribute_name"));
    if (result) return;
    const ops::OpSchema* schema = ops::find_signature(node->domain, node->op_type, node->since_version);
    if (schema && schema->attribute(name)) return;  // left out, and without a default
    fail(ErrorCode::not_found, "operator {} of node '{}' has no attribute '{}'", node->op_type, node->name, name);
  });
}

OrtStatus* ORT_API_CALL Node_GetNumSubgraphs(const OrtNode* node, size_t* out) {
  return guard([&] { checked(out, "num_subgraphs") = checked(node, "node").subgraphs.size(); });
}

OrtStatus* ORT_API_CALL Node_GetSubgraphs(const OrtNode* node, const OrtGraph** out, size_t count, const char** attribute_names) {
  return guard([&] {
    const auto& subgraphs = checked(node, "node").subgraphs;
    check_room(out, subgraphs.size(), count, "subgraphs");
    for (size_t i = 0; i < subgraphs.size(); ++i) {
      out[i] = subgraphs[i].graph.get();
      if (attribute_names) attribute_names[i] = subgraphs[i].attribute.c_str();
    }
  });
}

OrtStatus* ORT_API_CALL Node_GetGraph(const OrtNode* node, const OrtGraph** out) {
  return guard([&] { checked(out, "graph") = checked(node, "node").graph; });
}

OrtStatus* ORT_API_CALL Node_GetEpName(const OrtNode* node, const char** out) {
  return guard([&] { checked(out, "out") = checked(node, "node").provider.c_str(); });
}

void ORT_API_CALL ReleaseNode(OrtNode* node) {
  if (node && node->is_callers) delete node;
}

}  // namespace rh::capi
