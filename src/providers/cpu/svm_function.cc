#include "providers/cpu/svm_function.h"

#include <algorithm>
#include <cmath>

#include "compute/elementwise/vector_math.h"
#include "compute/reduce/similarity.h"

namespace rh::cpu {

using Function = ops::Svm::Function;

SvmFunction::SvmFunction(const ops::Svm& svm)
    : function_(svm.function),
      gamma_(svm.gamma),
      offset_(svm.offset),
      degree_(svm.degree),
      count_(svm.vector_count),
      features_(svm.features) {
  if (count_ == 0) return;
  if (function_ != Function::radial) {
    packed_ = compute::PackedMatrix<float>(svm.vectors.data(), features_, count_, true);
    return;
  }
  transposed_.resize(svm.vectors.size());
  for (int64_t k = 0; k < count_; ++k) {
    for (int64_t i = 0; i < features_; ++i)
      transposed_[static_cast<size_t>(i * count_ + k)] = svm.vectors[static_cast<size_t>(k * features_ + i)];
  }
}

int64_t SvmFunction::block_rows() const { return std::max<int64_t>(1, (int64_t{1} << 20) / std::max<int64_t>(1, count_)); }

void SvmFunction::run(const float* rows, int64_t count, float* similarities, const Parallel& parallel) const {
  if (function_ != Function::radial) {
    compute::GemmArgs<float> args{.m = count, .n = count_, .k = features_};
    compute::gemm(args, rows, packed_, similarities, parallel);
  }
  const Cost cost{.bytes = 0,
                  .operations = static_cast<double>(count_) * (function_ == Function::radial ? static_cast<double>(features_) + 10 : 10)};
  parallel.for_range(count, cost, [&](Range range) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      if (function_ == Function::radial)
        compute::squared_distances(rows + row * features_, transposed_.data(), features_, count_, similarities + row * count_);
      finish(similarities + row * count_, count_);
    }
  });
}

/// From products or squared distances to the function's values.
void SvmFunction::finish(float* similarities, int64_t count) const {
  switch (function_) {
    case Function::linear: return;
    case Function::radial:
      compute::scale_shift(similarities, -gamma_, 0, similarities, count);
      return compute::unary(compute::Unary::exp, similarities, similarities, count);
    case Function::sigmoid:
      compute::scale_shift(similarities, gamma_, offset_, similarities, count);
      return compute::unary(compute::Unary::tanh, similarities, similarities, count);
    case Function::polynomial: break;
  }
  compute::scale_shift(similarities, gamma_, offset_, similarities, count);
  if (degree_ == 2) return compute::unary(compute::Unary::square, similarities, similarities, count);
  if (degree_ == 3) {
    for (int64_t k = 0; k < count; ++k) similarities[k] *= similarities[k] * similarities[k];
    return;
  }
  for (int64_t k = 0; k < count; ++k) similarities[k] = std::pow(similarities[k], degree_);
}

}  // namespace rh::cpu
