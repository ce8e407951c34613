#pragma once

#include <memory>
#include <vector>

#include "abi/key_values.h"
#include "abi/logger.h"
#include "abi/value.h"
#include "graph/graph.h"
#include "providers/device.h"
#include "roundhouse/onnxruntime_ep_c_api.h"

/// What a kernel may know of its node when it is made. The graph outlives it, but for its constants, which are shared here.
struct OrtKernelInfo {
  const rh::Graph* graph = nullptr;
  const rh::Node* node = nullptr;
  std::vector<std::shared_ptr<const OrtValue>> constants;  ///< by input; null where it is none
  const OrtKeyValuePairs* config = nullptr;                ///< of the session
  const OrtLogger* logger = nullptr;
  const OrtEp* ep = nullptr;
  OrtAllocator* allocator = nullptr;     ///< of the provider's device
  rh::DataTransfer* transfer = nullptr;  ///< null where that is host memory
  int since_version = 0;                 ///< of the operator; 0: as its schema says
};
