#pragma once

#include <array>
#include <utility>

#include "tensor/arena.h"

namespace rh {

/// What an arena counted, by the names that OrtAllocator::GetStats has. A limit of -1 is none.
inline std::array<std::pair<const char*, int64_t>, 10> arena_report(const ArenaStatistics& s) {
  const auto bytes = [](size_t count) { return static_cast<int64_t>(count); };
  return {{{"Limit", bytes(s.limit)},
           {"InUse", bytes(s.in_use)},
           {"RequestedInUse", bytes(s.requested_in_use)},
           {"TotalAllocated", bytes(s.total_allocated)},
           {"MaxInUse", bytes(s.max_in_use)},
           {"NumAllocs", s.allocations},
           {"NumReserves", s.reserves},
           {"NumArenaExtensions", s.extensions},
           {"NumArenaShrinkages", s.shrinkages},
           {"MaxAllocSize", bytes(s.max_allocation)}}};
}

}  // namespace rh
