#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "compute/conv/conv.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/matmul_problem.h"
#include "tensor/tensor.h"

namespace rh::cpu {

/// A constant left operand of floats, a matrix or a batch of them, by a right operand that comes with a run: convolutions of single pixels,
/// whose output channels are the rows and whose pixels are the columns. Packed at load; empty for everything else, and where it is read
/// where it lies.
class PackedLeft {
 public:
  /// What follows the product.
  struct End {
    const Tensor* row_bias = nullptr;  ///< constant floats, one a row
    compute::Activation activation;
  };

  PackedLeft() = default;
  /// `a` is constant input 0 of the node, or null, `transposed`: [..., k, m]; input 1 is the right operand, [..., k, n].
  PackedLeft(const KernelInfo& info, const Tensor* a, bool transposed, const End& end);

  bool empty() const { return products_.empty(); }
  size_t bytes() const;
  /// Of the node; no problem where the operand is no such constant.
  const KernelVariant& variant() const { return variant_; }
  /// Of the operand as the product sees it: [..., m, k].
  const Shape& shape() const { return shape_; }
  /// `problem` is that of shape() and b's; `residual` has the shape of the result, or is null.
  void multiply(RunContext& context, const MatMulProblem& problem, const float* b, const float* residual, float* c) const;

 private:
  Shape shape_;
  KernelVariant variant_;
  std::vector<compute::Convolution<float>> products_;  ///< one for each matrix
};

}  // namespace rh::cpu
