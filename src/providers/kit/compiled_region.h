#pragma once

#include <memory>

#include "providers/kit/host.h"
#include "providers/kit/region_provider.h"

namespace rh::kit {

/// A compiled region as the host's table; ReleaseNodeComputeInfos deletes it.
struct CompiledRegion : OrtNodeComputeInfo {
  CompiledRegion(const Host& host, const Region& region, std::unique_ptr<Executable> executable);

  struct Port {
    std::string name;
    DType dtype;
  };
  Host host;
  std::vector<Port> inputs, outputs;
  std::unique_ptr<Executable> executable;
};

/// The region of a unit: the host's graph, and the values that its node takes and gives.
Region import_region(const Host& host, const OrtGraph& graph, const OrtNode& fused);

}  // namespace rh::kit
