#pragma once

#include <vector>

#include "abi/graph_view.h"
#include "providers/plugin/kernel_registry.h"
#include "providers/provider.h"

/// The answer to GetCapability, while it is made.
struct OrtEpGraphSupportInfo {
  const rh::Graph& graph;
  const OrtKernelRegistry* registry = nullptr;
  std::vector<rh::Claim> claims = {};

  /// Throws Error{invalid_argument} where a node is null or of another graph.
  void add(const OrtNode* const* nodes, size_t count, bool compiled, bool drop_constants);
  /// Null where the provider has no kernel for the node.
  const OrtKernelDef* find_kernel(const OrtNode& node) const;
};
