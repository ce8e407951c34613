#include "passes/precision/quantize_codes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tensor/dispatch.h"

namespace rh::precision {

namespace {

using CodeTypes = Types<int8_t, uint8_t, int32_t>;

constexpr double kMostCode = 127;  // symmetric codes leave -128 out

/// Which of `count` indices of an axis an element has.
struct AxisIndex {
  int64_t count = 1, step = 1;

  AxisIndex(const Shape& shape, int axis) {
    if (axis < 0) return;
    count = shape[axis];
    for (int i = axis + 1; i < shape.rank(); ++i) step *= shape[i];
  }
  size_t of(int64_t element) const { return static_cast<size_t>(element / step % count); }
};

float usable(double scale) {
  const float narrow = static_cast<float>(scale);
  return std::isfinite(narrow) && narrow >= std::numeric_limits<float>::min() ? narrow : 1.0f;
}

}  // namespace

Quantization quantization_of(const std::string& name, const TensorScale& entry, DType codes, bool symmetric) {
  const int least = codes == DType::uint8 ? 0 : -128, middle = codes == DType::uint8 ? 128 : 0;
  if (entry.scale) {
    if (entry.zero_point < least || entry.zero_point > least + 255) {
      fail(ErrorCode::invalid_argument, "calibration of '{}': the zero point is {}, expected {} to {} of {}", name, entry.zero_point, least,
           least + 255, to_string(codes));
    }
    return {*entry.scale, entry.zero_point};
  }
  if (symmetric) return {usable(entry.magnitude() / kMostCode), middle};
  const double low = std::min(entry.low, 0.0), high = std::max(entry.high, 0.0);
  const float scale = usable((high - low) / 255);
  return {scale, std::clamp(static_cast<int>(std::rint(least - low / scale)), least, least + 255)};
}

TensorScale range_of(const Tensor& floats) {
  TensorScale range;
  for (float x : floats.span<float>()) {
    range.low = std::min<double>(range.low, x);
    range.high = std::max<double>(range.high, x);
  }
  return range;
}

std::vector<float> weight_scales(const Tensor& floats, int axis) {
  const AxisIndex index(floats.shape(), axis);
  std::vector<double> most(static_cast<size_t>(index.count), 0);
  const float* x = floats.data<float>();
  for (int64_t i = 0; i < floats.elements(); ++i) {
    double& largest = most[index.of(i)];
    largest = std::max(largest, std::fabs(static_cast<double>(x[i])));
  }
  std::vector<float> scales;
  for (double largest : most) scales.push_back(usable(largest / kMostCode));
  return scales;
}

Tensor quantize(const Tensor& floats, DType codes, const std::vector<float>& scales, int axis, int zero_point) {
  const AxisIndex index(floats.shape(), scales.size() == 1 ? -1 : axis);
  Tensor result(codes, floats.shape());
  dispatch_or_throw<CodeTypes>(codes, "quantize", [&]<typename T>() {
    const double least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
    const float* x = floats.data<float>();
    for (int64_t i = 0; i < floats.elements(); ++i) {
      const double code = std::nearbyint(static_cast<double>(x[i]) / scales[index.of(i)]) + zero_point;
      result.data<T>()[i] = static_cast<T>(std::isnan(code) ? zero_point : std::clamp(code, least, most));
    }
  });
  return result;
}

}  // namespace rh::precision
