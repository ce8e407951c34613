#include "providers/cpu/elements.h"

#include <algorithm>
#include <limits>

#include "tensor/extent.h"

namespace rh::cpu {

namespace {

bool is_packed(DType dtype) {
  const int bits = bits_of(dtype);
  return bits > 0 && bits < 8;
}

}  // namespace

ElementInput::ElementInput(RunContext& context, const TensorView& view) : view_(view), kind_(compute::element_kind(view.dtype())) {
  if (is_packed(view.dtype())) {
    uint8_t* codes = context.scratch_array<uint8_t>(view.elements());
    compute::unpack_elements(bits_of(view.dtype()), view.raw(), codes, view.elements());
    data_ = reinterpret_cast<const std::byte*>(codes);
  } else {
    data_ = static_cast<const std::byte*>(view.raw());
  }
}

ElementOutput::ElementOutput(RunContext& context, int output, DType dtype, const Shape& shape)
    : view_(context.output(output, dtype, shape)), kind_(compute::element_kind(dtype)) {
  data_ = is_packed(dtype) ? reinterpret_cast<std::byte*>(context.scratch_array<uint8_t>(view_.elements()))
                           : static_cast<std::byte*>(view_.raw());
}

void ElementOutput::finish() {
  if (!is_packed(view_.dtype())) return;
  compute::pack_elements(bits_of(view_.dtype()), reinterpret_cast<const uint8_t*>(data_), view_.raw(), view_.elements());
}

std::optional<InlineVector<int64_t, 8>> ints_of(const ops::IntsOperand& operand, const RunContext& context) {
  if (operand.values) return InlineVector<int64_t, 8>(std::span<const int64_t>(*operand.values));
  if (operand.input < 0 || !context.has_input(operand.input)) return std::nullopt;
  return context.input_ints(operand.input);
}

int64_t index_from_end(int64_t index, int64_t size, const char* what) {
  if (size == 0) fail(ErrorCode::invalid_argument, "{} is {}, but there are no elements to choose from", what, index);
  if (index < -size || index >= 0) {
    fail(ErrorCode::invalid_argument, "{} is {}, expected a value in [{}, {}]", what, index, -size, size - 1);
  }
  return index + size;
}

const int64_t* indices_of(RunContext& context, int input) {
  const TensorView view = context.input(input);
  if (view.dtype() == DType::int64) return view.data<int64_t>();
  const int64_t count = view.elements();
  int64_t* indices = context.scratch_array<int64_t>(count);
  if (view.dtype() == DType::int32) {
    std::copy_n(view.data<int32_t>(), count, indices);
  } else {
    for (int64_t i = 0; i < count; ++i) indices[i] = element_as_int(view, i);
  }
  return indices;
}

int64_t scalar_int(const RunContext& context, int input, const char* what) {
  const TensorView view = context.input(input);
  if (view.elements() != 1) {
    fail(ErrorCode::invalid_argument, "{} has {} elements, expected 1", what, view.elements());
  }
  return element_as_int(view, 0);
}

int64_t checked_product(int64_t a, int64_t b, const char* what) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) fail(ErrorCode::invalid_argument, "{}: {} * {} does not fit into 64 bits", what, a, b);
  return product;
}

void check_elements(const Shape& shape, const char* what) {
  for (int64_t d : shape) {
    if (d < 0) fail(ErrorCode::invalid_argument, "{}: shape {} has a negative dimension", what, shape.to_string());
  }
  if (extent(shape) > kMostElements) {
    fail(ErrorCode::invalid_argument, "{}: shape {} has too many elements", what, shape.to_string());
  }
}

}  // namespace rh::cpu
