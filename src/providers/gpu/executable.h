#pragma once

#include <memory>

#include "providers/gpu/plan/class_plan.h"

namespace rh::gpu {

/// Uploads a region's constants and, where its sizes are known, compiles it; else for sizes that runs are likely to bring. Throws Error.
std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<const Shared> shared, const kit::Region& region);

}  // namespace rh::gpu
