#pragma once

#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

/// Launches of one kernel that do not need each other become parts of one launch: the later ones move up behind the first and join it.
void merge_launches(const Lowering& lowering, std::vector<Launch>& launches);

}  // namespace rh::gpu
