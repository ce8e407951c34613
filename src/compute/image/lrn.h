#pragma once

#include <cstdint>

namespace rh::compute {

/// y = x / (bias + scale (sum of the squares of the channels from `before` before to `after` after))^beta.
struct Lrn {
  int64_t channels = 0, inner = 0;  ///< of an image [channels, inner]
  int64_t before = 0, after = 0;
  float scale = 0, bias = 1, beta = 0.75f;
};

/// Columns [begin, end) of all channels of one image; serial.
void local_response(const Lrn& lrn, const float* x, float* y, int64_t begin, int64_t end);

}  // namespace rh::compute
