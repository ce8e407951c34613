#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "roundhouse/onnxruntime_ep_c_api.h"

/// What a kernel made of one constant weight. Buffers of equal content are there once in the process.
struct OrtSharedPrePackedWeightCache {
  explicit OrtSharedPrePackedWeightCache(OrtAllocator& allocator_of_buffers) : allocator(allocator_of_buffers) {}

  /// Takes buffers over, which came from the allocator.
  void store(std::span<void* const> data, std::span<const size_t> data_sizes);
  size_t bytes() const;

  OrtAllocator& allocator;  ///< outlives every session
  std::vector<std::shared_ptr<const void>> buffers;
  std::vector<size_t> sizes;
};
