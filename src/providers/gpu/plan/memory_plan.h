#pragma once

#include <map>
#include <string>
#include <vector>

#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

/// Where what launches make for each other lies in one block of the device's memory. Values share places whose uses do not overlap.
struct MemoryPlan {
  std::map<ValueId, size_t> offsets;  ///< by root
  std::map<ValueId, size_t> sizes;
  size_t bytes = 0;
};

MemoryPlan plan_memory(const Lowering& lowering);

/// Of the largest values of a plan: "x 12 MB, y 3 MB", for the error when there is no room.
std::string largest_values(const MemoryPlan& plan, const Graph& graph);

}  // namespace rh::gpu
