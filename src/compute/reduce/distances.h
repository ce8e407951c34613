#pragma once

#include <cstdint>

namespace rh::compute {

/// y[j], which holds -2 a b[j], becomes |a|^2 + |b[j]|^2 - 2 a b[j], where `norm` is |a|^2. The number of those that are infinite, NaN or
/// at most `share` of |a|^2 + |b[j]|^2: their digits cancelled.
int64_t add_norms(float norm, const float* norms, float share, float* y, int64_t count);
int64_t add_norms(double norm, const double* norms, double share, double* y, int64_t count);

}  // namespace rh::compute
