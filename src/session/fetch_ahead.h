#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "session/plan.h"

namespace rh {

/// What a step's kernel packed, in the order of packing.
using PackedBytes = std::vector<std::span<const std::byte>>;

/// Kernels that compute more than they read leave memory idle, and those behind them, which read large constants for few products, wait for
/// it. So each step that fetches ahead gets constants of the steps behind it: up to 2 MiB of what no step in between fetches, the first to
/// be read first, no further than 16 steps ahead. `packed` has an entry for each step.
void add_fetches(Plan& plan, std::span<const PackedBytes> packed);

}  // namespace rh
