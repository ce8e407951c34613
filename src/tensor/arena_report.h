#pragma once

#include <array>
#include <utility>

#include "tensor/arena.h"

namespace rh {

/// What an arena counted, by the names that OrtAllocator::GetStats has.
inline std::array<std::pair<const char*, size_t>, 10> arena_report(const ArenaStatistics& s) {
  return {{{"Limit", s.limit},
           {"InUse", s.in_use},
           {"RequestedInUse", s.requested_in_use},
           {"TotalAllocated", s.total_allocated},
           {"MaxInUse", s.max_in_use},
           {"NumAllocs", static_cast<size_t>(s.allocations)},
           {"NumReserves", static_cast<size_t>(s.reserves)},
           {"NumArenaExtensions", static_cast<size_t>(s.extensions)},
           {"NumArenaShrinkages", static_cast<size_t>(s.shrinkages)},
           {"MaxAllocSize", s.max_allocation}}};
}

}  // namespace rh
