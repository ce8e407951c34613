#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "providers/provider.h"
#include "roundhouse/onnxruntime_ep_c_api.h"

/// The element type of tensors, as kernel definitions name types.
struct OrtDataType {
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
};

/// Which nodes a plugin's kernel is for.
struct OrtKernelDef {
  std::string op_type, domain, provider;
  int since_start = 1, since_end = 1;
  std::map<size_t, OrtMemType> input_memory, output_memory;  ///< default where not told
  std::map<std::string, std::vector<const OrtDataType*>> types;
  std::vector<std::pair<int, int>> aliases;          ///< input, output: always the same memory
  std::vector<std::pair<int, int>> mutable_aliases;  ///< the output may overwrite the input

  OrtMemType input_memory_type(size_t index) const;
  OrtMemType output_memory_type(size_t index) const;
};

struct OrtKernelDefBuilder {
  OrtKernelDef def;
};

/// A plugin's kernels, most specific first as it added them.
struct OrtKernelRegistry {
  struct Entry {
    OrtKernelDef def;
    OrtKernelCreateFunc create;
    void* state;
  };
  std::vector<std::unique_ptr<Entry>> entries;
};

namespace rh::plugin {

/// The kernel for a node, or why there is none.
struct KernelMatch {
  const OrtKernelRegistry::Entry* entry = nullptr;
  RefusalCode code = RefusalCode::op;
  std::string reason;  ///< empty where there is one
};
KernelMatch find_kernel(const OrtKernelRegistry& registry, const Graph& graph, const Node& node);

/// The version of the operator that the node has: that of its schema, or its opset where there is none.
int since_version(const Node& node);

}  // namespace rh::plugin
