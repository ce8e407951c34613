#pragma once

#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace rh {

/// What a run is to shrink when it ends.
inline const std::string kShrinkageKey = "memory.enable_memory_arena_shrinkage";

/// The devices of a list such as "cpu:0;gpu:0"; "cpu" is "cpu:0". Throws Error{invalid_argument} for anything else.
std::vector<Device> parse_shrinkage(std::string_view list);

}  // namespace rh
