// What Roundhouse offers beside the ABI of onnxruntime_c_api.h.
#pragma once

#include "onnxruntime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Roundhouse's own version, "0.1.0". OrtApiBase::GetVersionString answers the version of the interface that is spoken.
ORT_EXPORT const char* ORT_API_CALL RhGetVersionString(void);

#ifdef __cplusplus
}
#endif
