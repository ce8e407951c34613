#pragma once

#include "compute/elementwise/vector_math.h"
#include "ops/elementwise.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Runs inputs 0 and 1, floats, into output 0 where they meet in short rows along which one of them stays, a sum of a column and a row for
/// example. False, with nothing done, where they meet otherwise, or are no floats.
bool run_short_rows(RunContext& context, compute::Binary op, const ops::LegacyBroadcast& legacy);

}  // namespace rh::cpu
