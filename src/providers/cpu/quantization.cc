#include "providers/cpu/quantization.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "compute/quant/quantize.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

namespace {

constexpr int64_t kRowElements = 16384;  // of a tensor with one scale

Status mismatch(const Shape& input, const Shape& scale, int64_t axis, int64_t block_size) {
  return error_status(ErrorCode::invalid_argument, "the scale has shape {}, which does not go with input {}, axis {} and block_size {}",
                      scale.to_string(), input.to_string(), axis, block_size);
}

}  // namespace

Status QuantRows::make(const Shape& input, const Shape& scale, int64_t axis, int64_t block_size, QuantRows& rows) {
  rows = {};
  rows.elements = input.elements();
  if (block_size == 0 && scale.elements() == 1 && scale.rank() <= 1) return {};
  if (axis < -input.rank() || axis >= input.rank()) return mismatch(input, scale, axis, block_size);
  const int at = static_cast<int>(axis < 0 ? axis + input.rank() : axis);
  rows.outer = input.product(0, at);
  rows.axis = input[at];
  rows.inner = input.product(at + 1, input.rank());
  if (block_size == 0) {
    rows.kind = Kind::per_axis;
    rows.blocks = rows.axis;
    return scale.rank() == 1 && scale[0] == rows.axis ? Status() : mismatch(input, scale, axis, block_size);
  }
  rows.kind = Kind::blocked;
  rows.block = block_size;
  rows.blocks = rows.axis / block_size + (rows.axis % block_size != 0);
  bool fits = scale.rank() == input.rank();
  for (int i = 0; fits && i < input.rank(); ++i) fits = scale[i] == (i == at ? rows.blocks : input[i]);
  return fits ? Status() : mismatch(input, scale, axis, block_size);
}

int64_t QuantRows::count() const {
  switch (kind) {
    case Kind::per_tensor: return (elements + kRowElements - 1) / kRowElements;
    case Kind::per_axis: return inner == 1 ? outer : outer * axis;
    case Kind::blocked: return inner == 1 ? outer * blocks : outer * axis;
  }
  return 0;
}

QuantRows::Row QuantRows::row(int64_t i) const {
  if (kind == Kind::per_tensor) return {i * kRowElements, std::min(kRowElements, elements - i * kRowElements), 0, false};
  if (kind == Kind::per_axis) return inner == 1 ? Row{i * axis, axis, 0, true} : Row{i * inner, inner, i % axis, false};
  if (inner == 1) {
    const int64_t begin = i % blocks * block;
    return {i / blocks * axis + begin, std::min(block, axis - begin), i, false};
  }
  return {i * inner, inner, (i / axis * blocks + i % axis / block) * inner, true};
}

void QuantRows::run(const Parallel& parallel, double operations_per_element, FunctionRef<void(const Row&)> body) const {
  const int64_t rows = count();
  if (elements == 0 || rows == 0) return;
  const double length = static_cast<double>(elements) / static_cast<double>(rows);
  parallel.for_range(rows, {.bytes = 5 * length, .operations = operations_per_element * length}, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) body(row(i));
  });
}

std::span<const double> zero_points_of(RunContext& context, size_t count) {
  if (context.has_input(2)) return as_doubles(context, context.input(2));
  double* const zeros = context.scratch_array<double>(static_cast<int64_t>(count));
  std::fill_n(zeros, count, 0.0);
  return {zeros, count};
}

Status scalar_of(const TensorView& view, const char* what, float& value) {
  if (view.elements() != 1) {
    return error_status(ErrorCode::invalid_argument, "{} has shape {}, expected one element", what, view.shape().to_string());
  }
  value = element_as_float(view, 0);
  return {};
}

Status scalar_of(const TensorView& view, const char* what, int32_t& value) {
  if (view.elements() != 1) {
    return error_status(ErrorCode::invalid_argument, "{} has shape {}, expected one element", what, view.shape().to_string());
  }
  value = static_cast<int32_t>(element_as_int(view, 0));
  return {};
}

Status TensorScale::read(const RunContext& context, int scale_input, int zero_input, const char* what, TensorScale& result) {
  RH_RETURN_IF_ERROR(scalar_of(context.input(scale_input), what, result.scale));
  result.zero_point = 0;
  return context.has_input(zero_input) ? scalar_of(context.input(zero_input), what, result.zero_point) : Status();
}

std::optional<TensorScale> TensorScale::constant(const KernelInfo& info, int scale_input, int zero_input) {
  const bool has_zero = info.node().has_input(zero_input);
  const Tensor* scale = info.constant_input(scale_input);
  const Tensor* zero = has_zero ? info.constant_input(zero_input) : nullptr;
  TensorScale result;
  if (!scale || (has_zero && !zero) || !scalar_of(scale->view(), "the scale", result.scale).ok()) return std::nullopt;
  if (zero && !scalar_of(zero->view(), "the zero point", result.zero_point).ok()) return std::nullopt;
  return result;
}

DynamicRange dynamic_range(const Parallel& parallel, const TensorView& x) {
  const float* from = x.data<float>();
  std::mutex mutex;
  compute::MinMax all;
  parallel.for_range(x.elements(), {.bytes = 4, .operations = 0.5}, [&](Range range) {
    const compute::MinMax part = compute::min_max(from + range.begin, range.size());
    const std::lock_guard lock(mutex);
    all.low = std::min(all.low, part.low);
    all.high = std::max(all.high, part.high);
  });
  DynamicRange result;
  if (all.high != all.low) result.scale = (all.high - all.low) / 255.0f;
  const float zero = 0.0f - all.low / result.scale;  // not a number where the range is infinite: then 255, as in ONNX Runtime
  result.zero_point = zero < 255.0f ? static_cast<uint8_t>(std::nearbyint(std::max(zero, 0.0f))) : uint8_t{255};
  return result;
}

void quantize(const Parallel& parallel, const TensorView& x, const DynamicRange& range, uint8_t* y) {
  const float* from = x.data<float>();
  const auto limits = compute::QuantRange::of<uint8_t>(range.zero_point);
  parallel.for_range(x.elements(), {.bytes = 5, .operations = 1},
                     [&](Range part) { compute::quantize(from + part.begin, range.scale, limits, y + part.begin, part.size()); });
}

}  // namespace rh::cpu
