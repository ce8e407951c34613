#pragma once

#include <memory>

#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// The region with its inputs and outputs in the order of their names, whichever order a host or a graph has them in.
Region sorted_by_name(Region region);

/// An executable of the sorted region for runs of `region`.
std::unique_ptr<Executable> for_order_of(const Region& region, const Region& sorted, std::unique_ptr<Executable> executable);

}  // namespace rh::kit
