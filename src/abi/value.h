#pragma once

#include <memory>

#include "abi/memory_info.h"
#include "tensor/value.h"

struct OrtValue {
  OrtValue() = default;
  explicit OrtValue(rh::Value content) : value(std::move(content)) {}
  OrtValue(rh::Value content, std::shared_ptr<const OrtMemoryInfo> where) : value(std::move(content)), memory(std::move(where)) {}

  const OrtMemoryInfo& memory_info() const { return memory ? *memory : rh::abi::host_memory_info(); }

  rh::Value value;
  std::shared_ptr<const OrtMemoryInfo> memory;  ///< null: host memory of the default allocator
  bool in_graph = false;                        ///< a graph of the model editor took it over
};

namespace rh::abi {

/// Shapes as callers give them. Throws Error{invalid_argument} for a negative dimension, a null pointer, or more than SIZE_MAX bytes.
Shape checked_shape(const int64_t* dims, size_t rank, DType dtype);

/// A tensor in memory of a caller's allocator, which frees it with the tensor; strings start empty.
Tensor allocate_tensor(OrtAllocator& allocator, DType dtype, const Shape& shape);

}  // namespace rh::abi
