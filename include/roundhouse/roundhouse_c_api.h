// What Roundhouse offers beside the ABI of onnxruntime_c_api.h.
#pragma once

#include "onnxruntime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Roundhouse's own version, "0.1.0". OrtApiBase::GetVersionString answers the version of the interface that is spoken.
ORT_EXPORT const char* ORT_API_CALL RhGetVersionString(void);

/// What a session does with its model, as JSON: {"providers": [...], "nodes": [{"node", "op_type", "provider", "kernel", "reason", "refusals"}],
/// "statistics": {...}}. `allocator` gives the text, which the caller frees with it.
ORT_EXPORT OrtStatus* ORT_API_CALL RhSessionGetReport(const OrtSession* session, OrtAllocator* allocator, char** json);

#ifdef __cplusplus
}
#endif
