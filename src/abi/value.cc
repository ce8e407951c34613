#include "abi/value.h"

#include <cstdint>
#include <limits>
#include <memory>

#include "abi/allocator.h"
#include "base/error.h"

namespace rh::abi {

Shape checked_shape(const int64_t* dims, size_t rank, DType dtype) {
  if (!dims && rank != 0) fail(ErrorCode::invalid_argument, "the shape is null but its rank is {}", rank);
  Shape shape(std::span<const int64_t>(dims, rank));
  for (const int64_t dim : shape) {
    if (dim < 0) fail(ErrorCode::invalid_argument, "shape {}: a dimension is negative", shape.to_string());
  }
  const int64_t elements = shape.elements();
  if (elements == std::numeric_limits<int64_t>::max() || bytes_of(dtype, elements) == SIZE_MAX) {
    fail(ErrorCode::invalid_argument, "shape {}: the number of bytes overflows", shape.to_string());
  }
  return shape;
}

Tensor allocate_tensor(OrtAllocator& allocator, DType dtype, const Shape& shape) {
  if (&allocator == &default_allocator()) return Tensor(dtype, shape);
  const size_t count = static_cast<size_t>(shape.elements());
  void* memory = allocate(allocator, bytes_of(dtype, shape.elements()));
  const bool strings = dtype == DType::string;
  if (strings) std::uninitialized_default_construct_n(static_cast<std::string*>(memory), count);
  OrtAllocator* source = &allocator;
  std::shared_ptr<const void> owner(memory, [source, strings, count](const void* p) {
    void* block = const_cast<void*>(p);
    if (strings) std::destroy_n(static_cast<std::string*>(block), count);
    source->Free(source, block);
  });
  const OrtMemoryInfo* info = allocator.Info ? allocator.Info(&allocator) : nullptr;
  return Tensor(dtype, shape, memory, std::move(owner), info ? device_of(*info) : Device{});
}

}  // namespace rh::abi
