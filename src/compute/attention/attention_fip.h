#pragma once

#include "compute/attention/attention.h"

namespace rh::compute {

/// Queries that are worked on together: parts of a head begin at multiples of so many.
inline constexpr int64_t kFipQueries = 32;

/// Whether attend_by_pairs() can compute this, on this processor.
bool can_attend_by_pairs(const AttentionArgs& args);
/// Whether it is faster.
bool attends_by_pairs(const AttentionArgs& args);

/// One head of one batch, for some of the queries, from a multiple of kFipQueries on. Keys and values are rows of tiles, queries and
/// weights columns of panels: scores are made as [keys, queries], so that weights are a panel where they are made, and y as [value_depth,
/// queries].
void attend_by_pairs(const AttentionArgs& args, int64_t batch, int64_t head, Range queries);

}  // namespace rh::compute
