#pragma once

#include <vector>

#include "compute/gemm/gemm.h"
#include "ops/ml/svm.h"
#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace rh::cpu {

/// Types of the rows that support vector machines take.
using SvmInputs = Types<float, double, int64_t, int32_t>;

/// The kernel function of a support vector machine, made ready at load.
class SvmFunction {
 public:
  explicit SvmFunction(const ops::Svm& svm);

  /// Rows whose similarities fit into a few megabytes.
  int64_t block_rows() const;
  /// `similarities` [count, vectors] of `rows` [count, features] with every support vector.
  void run(const float* rows, int64_t count, float* similarities, const Parallel& parallel) const;

 private:
  void finish(float* similarities, int64_t count) const;

  ops::Svm::Function function_;
  float gamma_, offset_, degree_;
  int64_t count_, features_;
  compute::PackedMatrix<float> packed_;  ///< of functions of products
  std::vector<float> transposed_;        ///< [features, vectors], of distances
};

}  // namespace rh::cpu
