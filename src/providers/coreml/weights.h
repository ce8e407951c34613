#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "tensor/tensor.h"

namespace rh::coreml {

/// The file of a package's large constants: a head of 64 bytes, then for each constant 64 bytes that describe it, and its data, each at a
/// multiple of 64.
class WeightFile {
 public:
  /// float32 or float16. The offset by which a program names it; what the tensor looks into lives until write().
  uint64_t add(Tensor tensor);
  size_t bytes() const { return size_; }
  bool empty() const { return tensors_.empty(); }
  /// Throws Error.
  void write(const std::string& path) const;
  /// Calls each(bytes) for the file's content, piece by piece.
  void for_each_piece(FunctionRef<void(std::span<const std::byte>)> each) const;

 private:
  std::vector<Tensor> tensors_;
  uint64_t size_ = 64;
};

}  // namespace rh::coreml
