// What shape functions of custom operators ask and say.
#include "capi/guard.h"
#include "capi/table.h"
#include "providers/plugin/custom_op.h"

namespace rh::capi {

namespace {

OrtShapeInferContext& context_of(const OrtShapeInferContext* context) {
  return checked(const_cast<OrtShapeInferContext*>(context), "context");
}

OrtTensorTypeAndShapeInfo& entry(std::vector<OrtTensorTypeAndShapeInfo>& entries, size_t index, const char* what) {
  if (index >= entries.size()) fail(ErrorCode::invalid_argument, "{} {} was asked for; the node has {}", what, index, entries.size());
  return entries[index];
}

}  // namespace

OrtStatus* ORT_API_CALL ShapeInferContext_GetInputCount(const OrtShapeInferContext* context, size_t* out) {
  return guard([&] { checked(out, "out") = context_of(context).inputs.size(); });
}

OrtStatus* ORT_API_CALL ShapeInferContext_GetInputTypeShape(const OrtShapeInferContext* context, size_t index,
                                                            OrtTensorTypeAndShapeInfo** out) {
  return guard([&] { checked(out, "info") = &entry(context_of(context).inputs, index, "input"); });
}

OrtStatus* ORT_API_CALL ShapeInferContext_GetAttribute(const OrtShapeInferContext* context, const char* name, const OrtOpAttr** out) {
  return guard([&] { checked(out, "attr") = &context_of(context).attribute(&checked(name, "attr_name")); });
}

OrtStatus* ORT_API_CALL ShapeInferContext_SetOutputTypeShape(const OrtShapeInferContext* context, size_t index,
                                                             const OrtTensorTypeAndShapeInfo* info) {
  return guard([&] { entry(context_of(context).outputs, index, "output") = checked(info, "info"); });
}

}  // namespace rh::capi
