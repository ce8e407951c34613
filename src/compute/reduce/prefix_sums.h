#pragma once

#include <cstdint>

namespace rh::compute {

/// y[i] = before + x[0] + ... + x[i], without x[i] if `exclusive`, summed in double and rounded once each; the sum of all comes back. In
/// `reverse` from the last element on. Serial; y may be x.
double prefix_sums(const float* x, float* y, int64_t count, double before, bool exclusive, bool reverse);

/// The same down `columns` neighbouring columns of so many rows, `step` apart (negative: upwards). `totals` are the sums before, and then
/// of all.
void prefix_sums_down(const float* x, float* y, int64_t step, int64_t rows, int64_t columns, double* totals, bool exclusive);

}  // namespace rh::compute
