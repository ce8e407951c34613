#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rh::kit {

/// What a device costs beside the CPU, in seconds, operations and bytes a second. Operations are multiplications with their additions, or
/// what an element takes.
struct CostModel {
  double cpu_operations = 40e9, cpu_bytes = 10e9;
  double device_operations = 4e12, device_bytes = 400e9;
  double launch = 5e-6;  ///< of a region
  double copy = 10e-6;   ///< of each copy between the host and the device, whatever its size
  double copied_bytes = 10e9;
  int64_t unknown_size = 64;  ///< of a dimension that a run says
};

/// Nodes that the device has, and others.
enum class Owner : unsigned char { others, device };

/// Why a region is left to the CPU: it is an island, with nodes of others before or behind it, and saves less time than its copies take.
/// Nothing where it is none, or is worth its copies. The CPU runs chains of element-wise operators as one, and so they count.
/// `owners`: of each node of the graph.
std::optional<std::string> island_reason(const Graph& graph, const std::vector<NodeId>& region, const std::vector<Owner>& owners,
                                         const CostModel& costs);

}  // namespace rh::kit
