#include "providers/cpu/loop_values.h"

#include "compute/move/elements.h"

namespace rh::cpu {

Status ScanOutput::add(const Tensor& tensor, const char* what) {
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
    const size_t begin = bytes_.size();
    bytes_.resize(begin + static_cast<size_t>(tensor.elements()));
    compute::unpack_elements(bits, tensor.raw(), bytes_.data() + begin, tensor.elements());
  } else {
    const uint8_t* data = static_cast<const uint8_t*>(tensor.raw());
    bytes_.insert(bytes_.end(), data, data + tensor.bytes());
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
    compute::pack_elements(bits, bytes_.data(), y.raw(), static_cast<int64_t>(bytes_.size()));
  } else if (!bytes_.empty()) {
    std::copy(bytes_.begin(), bytes_.end(), y.data<uint8_t>());
  }
}

Tensor owned(const Tensor& tensor) { return tensor.owns_memory() ? tensor : tensor.clone(); }

Value independent(const RunContext& context, const Value& value) {
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
  return borrowed ? Value(tensor.clone()) : value;
}

}  // namespace rh::cpu
