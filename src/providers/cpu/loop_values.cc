#include "providers/cpu/loop_values.h"

#include <algorithm>
#include <limits>

#include "compute/move/elements.h"

namespace rh::cpu {

// Room for `more` bytes: at first for all that may come where that is little, then for twice as much each time.
void ScanOutput::reserve(RunContext& context, size_t more, int64_t most) {
  constexpr size_t kLittle = 64 << 10;
  if (room_.size() - bytes_ >= more) return;
  const size_t rows = static_cast<size_t>(std::max<int64_t>(1, most)), left = std::numeric_limits<size_t>::max() / more;
  const size_t all = std::min(rows, left) * more, few = std::min(rows, kLittle / more) * more;
  const size_t size = std::max({bytes_ + more, std::min(2 * room_.size(), all), few});
  auto* const memory = static_cast<uint8_t*>(context.scratch(size));
  std::copy_n(room_.data(), bytes_, memory);
  room_ = {memory, size};
}

Status ScanOutput::add(RunContext& context, const Tensor& tensor, int64_t most, const char* what) {
  if (count_ == 0) {
    dtype_ = tensor.dtype();
    shape_ = tensor.shape();
  } else if (tensor.dtype() != dtype_ || !(tensor.shape() == shape_)) {
    return error_status(ErrorCode::invalid_argument, "{}: iteration {} gives {}{}, but the first gave {}{}", what, count_,
                        to_string(tensor.dtype()), tensor.shape().to_string(), to_string(dtype_), shape_.to_string());
  }
  ++count_;
  const int bits = bits_of(dtype_);
  if (dtype_ == DType::string) {
    strings_.insert(strings_.end(), tensor.data<std::string>(), tensor.data<std::string>() + tensor.elements());
  } else if (bits < 8) {
    const size_t count = static_cast<size_t>(tensor.elements());
    reserve(context, count, most);
    compute::unpack_elements(bits, tensor.raw(), room_.data() + bytes_, tensor.elements());
    bytes_ += count;
  } else {
    reserve(context, tensor.bytes(), most);
    std::copy_n(static_cast<const uint8_t*>(tensor.raw()), tensor.bytes(), room_.data() + bytes_);
    bytes_ += tensor.bytes();
  }
  return {};
}

void ScanOutput::write(RunContext& context, int output, const TensorType& declared) {
  if (!context.has_output(output)) return;
  Shape shape{count_};
  if (count_ == 0) {
    dtype_ = context.output_dtype(output) == DType::undefined ? declared.dtype : context.output_dtype(output);
    for (int k = 0; declared.has_rank() && k < declared.rank(); ++k) {
      const Dim& d = (*declared.dims)[k];
      shape.push_back(d.is_constant() ? d.value() : 0);
    }
  } else {
    for (int64_t d : shape_) shape.push_back(d);
  }
  const MutableView y = context.output(output, dtype_, shape);
  const int bits = bits_of(dtype_);
  if (dtype_ == DType::string) {
    std::move(strings_.begin(), strings_.end(), y.data<std::string>());
  } else if (bits < 8) {
    compute::pack_elements(bits, room_.data(), y.raw(), static_cast<int64_t>(bytes_));
  } else {
    std::copy_n(room_.data(), bytes_, y.data<uint8_t>());
  }
}

Tensor owned(const Tensor& tensor) { return tensor.owns_memory() ? tensor : tensor.clone(); }

Value independent(const RunContext& context, Value value) {
  if (!value.is_tensor()) return value;
  const Tensor& tensor = value.tensor();
  bool borrowed = !tensor.owns_memory();
  const char* data = static_cast<const char*>(tensor.raw());
  for (int i = 0; i < context.input_count() && !borrowed; ++i) {
    if (!context.has_input(i) || !context.input_value(i).is_tensor()) continue;
    const Tensor& input = context.input_tensor(i);
    const char* begin = static_cast<const char*>(input.raw());
    const size_t bytes = input.dtype() == DType::string ? static_cast<size_t>(input.elements()) * sizeof(std::string) : input.bytes();
    borrowed = data >= begin && data < begin + bytes;
  }
  if (borrowed) return tensor.clone();
  return value;
}

}  // namespace rh::cpu
