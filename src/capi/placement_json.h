#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "partition/copies.h"
#include "partition/placement.h"

namespace rh::capi {

/// {"nodes": [...], "counts": {...}, "copies": [...]}, as roundhouse_c_api.h describes them.
nlohmann::json placement_json(const PlacementRecord& record, const std::vector<CopyPlacement>& copies);

}  // namespace rh::capi
