#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace rh::cpu {

/// The rows of an input [rows, features] or [features]; a status naming the operator where it has others.
Status check_rows(const char* op_type, const TensorView& x, int64_t features, int64_t& rows);

/// The same for a model of so many scores a row: its first `scores` * features coefficients count, of which there may be more.
Status check_rows(const char* op_type, const TensorView& x, int64_t scores, const std::vector<float>& coefficients, int64_t& rows,
                  int64_t& features);

/// coefficients * row + intercepts, one a score; intercepts may be empty. Rows are float, double, int64 or int32.
void linear_scores(const TensorView& x, int64_t row, const std::vector<float>& coefficients, const std::vector<float>& intercepts,
                   std::span<double> scores);

}  // namespace rh::cpu
