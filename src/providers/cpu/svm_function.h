#pragma once

#include <vector>

#include "ops/ml/svm.h"
#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace rh::cpu {

/// Types of the rows that support vector machines take.
using SvmInputs = Types<float, double, int64_t, int32_t>;

/// A row of a real input [rows, features] or [features], as floats.
void read_svm_row(const TensorView& x, int64_t row, std::vector<float>& values);

/// The kernel function of a row with every support vector.
void svm_similarities(const ops::Svm& svm, const std::vector<float>& row, std::vector<double>& similarities);

double dot_product(const float* a, const float* b, int64_t count);

}  // namespace rh::cpu
