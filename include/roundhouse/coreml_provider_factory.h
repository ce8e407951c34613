// Core ML's provider by its older name and its options as flags; what each means: docs/providers/coreml.md.
#pragma once

#include "onnxruntime_c_api.h"

enum COREMLFlags {
  COREML_FLAG_USE_NONE = 0x000,
  COREML_FLAG_USE_CPU_ONLY = 0x001,
  COREML_FLAG_ENABLE_ON_SUBGRAPH = 0x002,
  COREML_FLAG_ONLY_ENABLE_DEVICE_WITH_ANE = 0x004,
  COREML_FLAG_ONLY_ALLOW_STATIC_INPUT_SHAPES = 0x008,
  COREML_FLAG_CREATE_MLPROGRAM = 0x010,
  COREML_FLAG_USE_CPU_AND_GPU = 0x020,
  COREML_FLAG_LAST = COREML_FLAG_USE_CPU_AND_GPU
};

#ifdef __cplusplus
extern "C" {
#endif
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_CoreML(_In_ OrtSessionOptions* options, uint32_t coreml_flags);
#ifdef __cplusplus
}
#endif
