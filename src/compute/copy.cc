#include "compute/copy.h"

#include "compute/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/copy.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// At least a vector.
void copy_loop(const uint8_t* x, uint8_t* y, size_t count) {
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const auto v0 = hn::LoadU(d, x + i), v1 = hn::LoadU(d, x + i + lanes);
    const auto v2 = hn::LoadU(d, x + i + 2 * lanes), v3 = hn::LoadU(d, x + i + 3 * lanes);
    hn::StoreU(v0, d, y + i);
    hn::StoreU(v1, d, y + i + lanes);
    hn::StoreU(v2, d, y + i + 2 * lanes);
    hn::StoreU(v3, d, y + i + 3 * lanes);
  }
  for (; i < count; i += lanes) {
    const size_t at = HWY_MIN(i, count - lanes);  // the last one ends where the range does
    hn::StoreU(hn::LoadU(d, x + at), d, y + at);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(copy_loop);

namespace detail {

void copy_long(const void* from, void* to, size_t bytes) {
  HWY_DYNAMIC_DISPATCH(copy_loop)(static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to), bytes);
}

}  // namespace detail

}  // namespace rh::compute
#endif
