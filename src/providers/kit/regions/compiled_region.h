#pragma once

#include <memory>
#include <string>
#include <vector>

#include "providers/kit/graph/root_types.h"
#include "providers/kit/host/host.h"
#include "providers/kit/host/profiling.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

class ListedDevice;

/// A compiled region as the host's table; ReleaseNodeComputeInfos deletes it.
struct CompiledRegion : OrtNodeComputeInfo {
  /// `device` is null where regions work on host memory.
  CompiledRegion(const Host& host, const Region& region, std::unique_ptr<Executable> executable, std::shared_ptr<ListedDevice> device);

  Host host;
  std::shared_ptr<ListedDevice> device;
  std::vector<std::string> inputs, outputs;  ///< their names
  std::vector<TensorType> output_types;
  std::unique_ptr<Executable> executable;  ///< null where nobody takes what the region gives
  ProfiledRegion profiled;
};

/// The region of a unit: the host's graph, with the sizes that its values had in the root's, and the values that its node takes and gives.
Region import_region(const Host& host, const OrtGraph& graph, const OrtNode& fused, const RootTypes& types);

}  // namespace rh::kit
