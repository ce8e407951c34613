#pragma once

#include <optional>
#include <span>

#include "compute/quant/quantize.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// How the elements of a tensor meet the scales of a linear quantisation, as rows that each have one scale or a scale an element.
struct QuantRows {
  enum class Kind : uint8_t { per_tensor, per_axis, blocked } kind = Kind::per_tensor;
  int64_t outer = 1, axis = 1, inner = 1;  ///< sizes before, along and after the axis
  int64_t block = 1;                       ///< elements along the axis that share a scale
  int64_t blocks = 1;                      ///< scales along the axis
  int64_t elements = 0;

  struct Row {
    int64_t begin;  ///< first element
    int64_t count;
    int64_t scale;     ///< index of the first element's scale
    bool per_element;  ///< the following elements have the following scales
  };

  /// Status{invalid_argument} where the scale's shape does not go with the input's.
  static Status make(const Shape& input, const Shape& scale, int64_t axis, int64_t block_size, QuantRows& rows);

  int64_t count() const;
  Row row(int64_t i) const;
  /// Runs body(row) for all rows in parallel.
  void run(const Parallel& parallel, double operations_per_element, FunctionRef<void(const Row&)> body) const;
};

/// Input 2 of QuantizeLinear or DequantizeLinear in memory of the run; `count` zeros where it is left out.
std::span<const double> zero_points_of(RunContext& context, size_t count);

/// The only element of an input, as float or integer: Status{invalid_argument} naming `what` where it has another number of elements.
Status scalar_of(const TensorView& view, const char* what, float& value);
Status scalar_of(const TensorView& view, const char* what, int32_t& value);

/// Scale and zero point of an 8-bit tensor that has one of each.
struct TensorScale {
  float scale = 1;
  int32_t zero_point = 0;

  /// From two inputs; a zero point that is left out is 0. `what` names the tensor in the error for inputs of more than one element.
  static Status read(const RunContext& context, int scale_input, int zero_input, const char* what, TensorScale& result);
  /// The same of inputs that are constants; nothing where one is not, or has another number of elements.
  static std::optional<TensorScale> constant(const KernelInfo& info, int scale_input, int zero_input);
  float value(int code) const { return static_cast<float>(code - zero_point) * scale; }
  /// The code nearest to a value, ties to even; T is uint8_t or int8_t.
  template <typename T>
  T code(float value) const {
    T result;
    compute::quantize(&value, scale, compute::QuantRange::of<T>(zero_point), &result, 1);
    return result;
  }
};

/// y[i] = f(x[i]) where codes are looked up: 256 results, by the byte of the code. T is uint8_t or int8_t.
struct ByteTable {
  uint8_t of[256];

  template <typename T, typename F>
  static ByteTable make(const TensorScale& from, const TensorScale& to, F f) {
    float values[256];
    for (int i = 0; i < 256; ++i) values[i] = f(from.value(static_cast<T>(i)));
    ByteTable table;
    compute::quantize(values, to.scale, compute::QuantRange::of<T>(to.zero_point), reinterpret_cast<T*>(table.of), 256);
    return table;
  }
  void run(const uint8_t* x, uint8_t* y, int64_t count) const { compute::look_up(of, x, y, count); }
};

using ByteTypes = Types<int8_t, uint8_t>;

/// Scale and zero point that bring a float tensor's range, widened to hold 0, onto uint8: ai.onnx::DynamicQuantizeLinear.
struct DynamicRange {
  float scale = 1;
  uint8_t zero_point = 0;
};
DynamicRange dynamic_range(const Parallel& parallel, const TensorView& x);
void quantize(const Parallel& parallel, const TensorView& x, const DynamicRange& range, uint8_t* y);

}  // namespace rh::cpu
