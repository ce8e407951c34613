// What Roundhouse offers beside the ABI of onnxruntime_c_api.h.
#pragma once

#include "onnxruntime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Roundhouse's own version, "0.1.0". OrtApiBase::GetVersionString answers the version of the interface that is spoken.
ORT_EXPORT const char* ORT_API_CALL RhGetVersionString(void);

/// What a session does with its model, as JSON: {"providers": [...], "nodes": [{"node", "op_type", "provider", "kernel", "reason",
/// "refusals"}], "statistics": {...}}. `allocator` gives the text, which the caller frees with it.
ORT_EXPORT OrtStatus* ORT_API_CALL RhSessionGetReport(const OrtSession* session, OrtAllocator* allocator, char** json);

/// What a model file holds, as JSON, whether it can be run or not: {"ir_version", "producer", "opsets", "inputs", "outputs", "nodes",
/// "operators", "weights", "unsupported": [{"operator", "reason", "count"}]}. The text is freed with `allocator`. Errors: those of reading
/// a model.
ORT_EXPORT OrtStatus* ORT_API_CALL RhInspectModel(const ORTCHAR_T* path, OrtAllocator* allocator, char** json);

/// A tensor, and its name, from the bytes of a TensorProto, as test data of models is kept. The name is freed with `allocator`.
ORT_EXPORT OrtStatus* ORT_API_CALL RhCreateValueFromProto(const void* bytes, size_t size, OrtAllocator* allocator, OrtValue** value,
                                                          char** name);

/// A sequence of no tensors, whose elements would be of the given type; undefined goes with any. CreateValue needs at least one element.
ORT_EXPORT OrtStatus* ORT_API_CALL RhCreateEmptySequence(ONNXTensorElementDataType type, OrtValue** value);

#ifdef __cplusplus
}
#endif
