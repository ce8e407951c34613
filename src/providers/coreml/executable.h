#pragma once

#include <memory>

#include "providers/coreml/runtime.h"

namespace rh::coreml {

/// The region, loaded by Core ML where all of its sizes are known; else a program for each class of sizes is loaded when a run brings it.
/// Throws Error.
std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<const Shared> shared, const kit::Region& region);

/// Whether the region becomes a program. Throws Error where it does not.
void try_region(const Shared& shared, const kit::Region& region);

}  // namespace rh::coreml
