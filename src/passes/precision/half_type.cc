#include "passes/precision/half_type.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tensor/dispatch.h"

namespace rh::precision {

namespace {

using HalfTypes = Types<Float16, BFloat16>;

/// The finite magnitudes of a tensor, zeros left out.
struct Magnitudes {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
};

Magnitudes magnitudes_of(const Tensor& floats) {
  Magnitudes found;
  for (float x : floats.span<float>()) {
    const double magnitude = std::fabs(x);
    if (magnitude == 0 || !std::isfinite(magnitude)) continue;
    found.least = std::min(found.least, magnitude);
    found.most = std::max(found.most, magnitude);
  }
  return found;
}

}  // namespace

HalfRange half_range(DType half) {
  if (half == DType::float16) return {65504, 0x1p-14};
  return {0x1.fep127, 0x1p-126};
}

std::string why_unfit(const Tensor& floats, DType half, Needed needed) {
  const Magnitudes found = magnitudes_of(floats);
  const HalfRange range = half_range(half);
  if (found.most > range.most) {
    return fmt::format("a constant has an element of {:.4g}, beyond the {:.5g} of {}", found.most, range.most, to_string(half));
  }
  if (needed == Needed::finite) return {};
  const bool counts_each = needed == Needed::each || floats.elements() == 1;
  const double least = counts_each ? found.least : found.most;
  if (found.most > 0 && least < range.least_normal) {
    return fmt::format("a constant has an element of {:.4g}, below {:.4g}, where {} loses bits", least, range.least_normal,
                       to_string(half));
  }
  return {};
}

Tensor to_half(const Tensor& floats, DType half) {
  Tensor result(half, floats.shape());
  dispatch_or_throw<HalfTypes>(half, "to_half", [&]<typename T>() {
    std::ranges::transform(floats.span<float>(), result.data<T>(), [](float x) { return static_cast<T>(x); });
  });
  return result;
}

}  // namespace rh::precision
