#pragma once

#include <span>
#include <vector>

#include "compute/elementwise/register_chain.h"
#include "ops/math/fused_elementwise.h"

namespace rh::cpu {

/// Steps [begin, end) of a FusedElementwise of floats as one chain in registers, of whose results only the last is needed behind it.
/// `inputs` are the numbers of the values that the chain takes, in its order.
struct ChainSegment {
  size_t begin = 0, end = 0;
  std::vector<compute::ChainStep> steps;
  std::vector<size_t> inputs;
};

/// The segments of at least two steps, in order. `inputs` of the operator come before the steps' results in the steps' operands, and
/// Greater and GreaterOrEqual have theirs exchanged, as the rows of the operators do. Those steps whose results are `outputs` end theirs.
std::vector<ChainSegment> chain_segments(std::span<const ops::FusedElementwise::Step> steps, size_t inputs,
                                         std::span<const int64_t> outputs = {});

}  // namespace rh::cpu
