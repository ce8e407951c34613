#pragma once

#include <string>
#include <vector>

#include "graph/type.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// The tensors that the iterations of a loop give to one scan output, joined along a new first dimension as they come.
class ScanOutput {
 public:
  /// Takes the next one; all must have one shape and element type. `what` names the output in the error.
  Status add(const Tensor& tensor, const char* what);
  /// Writes output i. Where nothing was added it has no rows of the declared shape, whose unknown dimensions count as 0.
  void write(RunContext& context, int output, const TensorType& declared);

 private:
  DType dtype_ = DType::undefined;
  Shape shape_;
  int64_t count_ = 0;
  std::vector<uint8_t> bytes_;  ///< a byte an element for packed types
  std::vector<std::string> strings_;
};

/// A value that may stay when the inputs of the node are gone: a copy where its memory is nobody's or lies within an input's.
Value independent(const RunContext& context, const Value& value);

/// A tensor that owns its memory.
Tensor owned(const Tensor& tensor);

}  // namespace rh::cpu
