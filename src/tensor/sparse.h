#pragma once

#include "tensor/value.h"

namespace rh {

/// The number of elements. Throws Error{fail} on negative dimensions, and where the product of the dimensions but for zeros
/// overflows.
int64_t checked_elements(const Shape& dims);

/// Indices of fewer bits, as ONNX Runtime writes them where they suffice, become int64.
void widen_indices(SparseTensor& sparse);

/// Throws Error{invalid_graph} unless the tensor is COO with values [nnz] of its element type and int64 indices [nnz] or [nnz, rank], each
/// within the dense shape.
void check_coo(const SparseTensor& sparse);

/// The dense form of a tensor that `check_coo` accepts: zeros, or empty strings, but for the values.
Tensor to_dense(const SparseTensor& sparse);

}  // namespace rh
