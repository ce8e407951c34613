#include "compute/elimination.h"

#include "compute/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elimination.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void eliminate_rows_loop(const double* pivot, double divisor, double* rows, int64_t count, int64_t stride, int64_t column, int64_t begin,
                         int64_t length) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (double* row = rows; count > 0; --count, row += stride) {
    const double factor = row[column] / divisor;
    row[column] = 0;
    if (factor == 0) continue;
    const auto factors = hn::Set(d, factor);
    int64_t i = begin;
    for (; i + lanes <= length; i += lanes)
      hn::StoreU(hn::Sub(hn::LoadU(d, row + i), hn::Mul(factors, hn::LoadU(d, pivot + i))), d, row + i);
    for (; i < length; ++i) row[i] -= factor * pivot[i];
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(eliminate_rows_loop);

void eliminate_rows(const double* pivot, double divisor, double* rows, int64_t count, int64_t stride, int64_t column, int64_t begin,
                    int64_t length) {
  HWY_DYNAMIC_DISPATCH(eliminate_rows_loop)(pivot, divisor, rows, count, stride, column, begin, length);
}

}  // namespace rh::compute
#endif
