#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "providers/gpu/plan/lowering.h"
#include "providers/kit/regions/region_provider.h"
#include "providers/kit/shapes/plan_classes.h"

namespace rh::gpu {

/// A region as it is lowered for the sizes that runs bring: its constants are on the device, and small ones on the host as well.
class RegionSource {
 public:
  /// Uploads the constants. `recognises`: what nodes spell out may be one node (region_passes.h). Throws Error.
  RegionSource(const kit::Region& region, bool recognises);

  /// The region with inputs of these shapes, and these values of its host inputs (others are not looked at). Throws Error where a node
  /// does not take them.
  StaticRegion at(std::span<const Shape> shapes, std::span<const Tensor> host_values) const;

  const std::vector<ValueId>& inputs() const { return inputs_; }
  const kit::PlanSizes& sizes() const { return sizes_; }
  bool is_on_host(size_t input) const { return input < host_inputs_.size() && host_inputs_[input]; }
  bool has_host_inputs() const;

 private:
  void upload(const kit::Region& region);

  std::shared_ptr<Graph> graph_;
  std::vector<ValueId> inputs_;
  std::vector<bool> host_inputs_;
  std::map<ValueId, Tensor> constants_;
  std::map<const void*, Tensor> of_branches_;  ///< by where they are on the host
  bool has_branches_ = false;
  kit::PlanSizes sizes_;
};

}  // namespace rh::gpu
