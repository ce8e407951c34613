#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "graph/dim.h"

namespace rh::ops {

/// Heights and widths that images are likely to have where a model leaves them open, the likeliest first: ways to compute are chosen before
/// the first run, and are to suit the others too.
inline constexpr std::array<int64_t, 3> kLikelyImages = {320, 128, 768};

/// The size of a plane's axis in a run whose inputs have axes of `image` wherever the model leaves them open. Nothing where it is unknown,
/// depends on what a run computes, or would be none.
std::optional<int64_t> likely_size(const Dim& dim, int64_t image = kLikelyImages.front());

}  // namespace rh::ops
