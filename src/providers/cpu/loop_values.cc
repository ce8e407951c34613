#include "providers/cpu/loop_values.h"

#include <algorithm>

#include "compute/move/elements.h"

namespace rh::cpu {

// A new piece has room for all that may come where that is little, then for as much as there is already: never for more than a tensor may
// take if the output keeps to it.
uint8_t* ScanOutput::take(RunContext& context, size_t bytes, int64_t most) {
  constexpr size_t kLittle = 64 << 10;
  if (bytes == 0) return nullptr;
  if (pieces_.empty() || pieces_.back().room - pieces_.back().bytes < bytes) {
    const size_t rows = static_cast<size_t>(std::max<int64_t>(1, most - count_ + 1));
    const size_t wanted = std::max(bytes_, kLittle) / bytes;
    const size_t size = std::max<size_t>(1, std::min(rows, wanted)) * bytes;
    pieces_.push_back({static_cast<uint8_t*>(context.scratch(size)), 0, size});
  }
  Piece& last = pieces_.back();
  uint8_t* const at = last.data + last.bytes;
  last.bytes += bytes;
  bytes_ += bytes;
  return at;
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
    compute::unpack_elements(bits, tensor.raw(), take(context, count, most), tensor.elements());
  } else {
    std::copy_n(static_cast<const uint8_t*>(tensor.raw()), tensor.bytes(), take(context, tensor.bytes(), most));
  }
  return {};
}

void ScanOutput::join(uint8_t* to) const {
  for (const Piece& piece : pieces_) to = std::copy_n(piece.data, piece.bytes, to);
}

void ScanOutput::write(RunContext& context, int output, const ValueType* row) {
  if (!context.has_output(output)) return;
  if (count_ == 0) {
    dtype_ = context.output_dtype(output);
    if (row) shape_ = shape_or_zeros(*row);
    if (row && row->is_tensor() && dtype_ == DType::undefined) dtype_ = row->tensor().dtype;
  }
  Shape shape = shape_;
  shape.insert(0, count_);
  const MutableView y = context.output(output, dtype_, shape);
  const int bits = bits_of(dtype_);
  if (dtype_ == DType::string) {
    std::move(strings_.begin(), strings_.end(), y.data<std::string>());
  } else if (bits < 8) {
    auto* const all = static_cast<uint8_t*>(context.scratch(bytes_));
    join(all);
    compute::pack_elements(bits, all, y.raw(), static_cast<int64_t>(bytes_));
  } else {
    join(y.data<uint8_t>());
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
