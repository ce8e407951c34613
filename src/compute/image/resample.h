#pragma once

#include <cstdint>

namespace rh::compute {

/// How an axis of `inputs` elements becomes one of `outputs`: element i is the sum of weight[i taps + t] times element index[i taps + t].
struct ResampledAxis {
  int64_t inputs;
  int64_t outputs;
  int64_t taps;
  const int64_t* index;
  const float* weight;
};

inline constexpr int64_t kMostResampledTaps = 64;

/// Whether resample_rows() takes them: up to kMostResampledTaps an element, and rows that follow each other for each.
bool resamples_rows(const ResampledAxis& down, const ResampledAxis& along);

/// Rows [begin, end) of y, of all planes one after the other: planes of x resampled along both axes, which resamples_rows() takes. Serial.
/// Throws std::bad_alloc.
void resample_rows(const float* x, const ResampledAxis& down, const ResampledAxis& along, int64_t begin, int64_t end, float* y);

}  // namespace rh::compute
