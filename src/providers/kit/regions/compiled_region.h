#pragma once

#include <atomic>
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
  /// What tells a session's runs apart; holds null where the host does not tell.
  using Watch = std::shared_ptr<std::atomic<RhAskRunStateFn>>;

  /// `device` is null where regions work on host memory.
  CompiledRegion(const Host& host, const Region& region, std::unique_ptr<Executable> executable, std::shared_ptr<ListedDevice> device);

  Host host;
  std::shared_ptr<ListedDevice> device;
  std::vector<std::string> inputs, outputs;  ///< their names
  std::vector<TensorType> output_types;
  std::vector<bool> host_inputs;           ///< by input
  std::unique_ptr<Executable> executable;  ///< null where nobody takes what the region gives
  ProfiledRegion profiled;
  Watch watch;  ///< may be null
};

/// The region of a unit: the host's graph, with the sizes that its values had in the root's, and the values that its node takes and gives.
Region import_region(const Host& host, const OrtGraph& graph, const OrtNode& fused, const RootTypes& types);

}  // namespace rh::kit
