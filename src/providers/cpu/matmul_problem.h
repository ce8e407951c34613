#pragma once

#include "base/error.h"
#include "tensor/shape.h"

namespace rh::cpu {

/// A product of stacks of matrices as numpy.matmul sees it: 1-D operands became matrices, batch dimensions broadcast.
struct MatMulProblem {
  int64_t m = 0, n = 0, k = 0;
  Shape batch;  ///< of the result
  Shape a_batch, b_batch;
  Shape result;  ///< with the dimensions that 1-D operands added left out again

  /// Status{invalid_argument} naming the operator where the shapes cannot be multiplied.
  static Status make(const char* op_type, const Shape& a, const Shape& b, MatMulProblem& problem);
  /// One right operand: the batch is just more rows.
  bool is_one_product() const { return b_batch.elements() == 1; }
};

/// Offset of each product's operand: its batch dimensions are stretched where they are 1. `matrix` is the elements of one.
void fill_batch_offsets(const Shape& operand, const Shape& batch, int64_t matrix, int64_t* offsets);

}  // namespace rh::cpu
