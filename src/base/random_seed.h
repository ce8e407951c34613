#pragma once

#include <cstdint>
#include <optional>

namespace rh {

/// The seed of the process for random operators that have none of their own; nothing: each session draws one.
void set_random_seed(int64_t seed);
std::optional<uint64_t> random_seed();

/// A seed by the numbers of a sequence: neighbours have nothing in common (splitmix64; Steele, Lea and Flood 2014).
uint64_t mixed_seed(uint64_t seed, uint64_t number);

}  // namespace rh
