#pragma once

#include "passes/driver/pass.h"

namespace rh::gpu {

/// How often the body of a Loop runs: its count is a constant, not above what is unrolled, and no condition ends it earlier. Nothing where
/// it is not known so.
std::optional<int64_t> known_trips(const Graph& graph, const Node& loop);

/// The pass that puts the body of each such Loop in its place as often as it runs, one behind the other.
Edit unroll_known_loops(const Graph& graph, PassContext& context);

}  // namespace rh::gpu
