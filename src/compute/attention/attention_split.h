#pragma once

#include "compute/attention/attention.h"

namespace rh::compute {

/// Queries that are worked on together: parts of a head begin at multiples of so many.
inline constexpr int64_t kSplitQueries = 32;

/// Whether attend_by_tiles() can compute this, on this processor.
bool can_attend_by_tiles(const AttentionArgs& args);
/// Whether it is to: as AttentionArgs::ways says. A head's queries are worked on in so many parts, each of which splits keys and values.
bool attends_by_tiles(const AttentionArgs& args, int64_t parts = 1);

/// One head of one batch, for some of the queries, from a multiple of kSplitQueries on: both products are made of six products of bfloat16
/// parts by AMX tiles (gemm_amx.h). Where magnitudes do not fit (fits_split), a tile goes by multiply-add, so that what comes out is
/// within the bound of float sums.
void attend_by_tiles(const AttentionArgs& args, int64_t batch, int64_t head, Range queries);

}  // namespace rh::compute
