#include "tensor/sparse.h"

#include <cstring>
#include <limits>

#include "base/error.h"
#include "tensor/extent.h"

namespace rh {

int64_t checked_elements(const Shape& dims) {
  for (int64_t dim : dims) {
    if (dim < 0) fail(ErrorCode::fail, "the shape is {}, expected dimensions of at least 0", dims.to_string());
  }
  if (extent(dims) == std::numeric_limits<int64_t>::max())
    fail(ErrorCode::fail, "the shape is {}, whose number of elements overflows", dims.to_string());
  return dims.elements();
}

void widen_indices(SparseTensor& sparse) {
  const DType dtype = sparse.indices.dtype();
  if (dtype != DType::int8 && dtype != DType::int16 && dtype != DType::int32) return;
  Tensor wide(DType::int64, sparse.indices.shape());
  for (int64_t i = 0; i < wide.elements(); ++i) wide.data<int64_t>()[i] = element_as_int(sparse.indices.view(), i);
  sparse.indices = std::move(wide);
}

void check_coo(const SparseTensor& sparse) {
  const int64_t elements = checked_elements(sparse.dense_shape);
  if (sparse.format != SparseTensor::Format::coo) fail(ErrorCode::invalid_graph, "a sparse tensor has no COO form, expected one");
  if (sparse.values.dtype() != sparse.dtype || sparse.values.shape().rank() != 1) {
    fail(ErrorCode::invalid_graph, "the values of a sparse tensor are {}{}, expected one dimension of {}", to_string(sparse.values.dtype()),
         sparse.values.shape().to_string(), to_string(sparse.dtype));
  }
  const int64_t count = sparse.values.elements();
  const Shape& shape = sparse.indices.shape();
  const int rank = sparse.dense_shape.rank();
  const bool linear = shape.rank() == 1 && shape[0] == count;
  const bool by_axis = shape.rank() == 2 && shape[0] == count && shape[1] == rank;
  if (sparse.indices.dtype() != DType::int64 || (!linear && !by_axis)) {
    fail(ErrorCode::invalid_graph, "the indices of a sparse tensor are {}{}, expected int64[{}] or int64[{}, {}]",
         to_string(sparse.indices.dtype()), shape.to_string(), count, count, rank);
  }
  const int64_t* index = sparse.indices.data<int64_t>();
  for (int64_t i = 0; i < sparse.indices.elements(); ++i) {
    const int64_t limit = linear ? elements : sparse.dense_shape[static_cast<size_t>(i % rank)];
    if (index[i] < 0 || index[i] >= limit)
      fail(ErrorCode::invalid_graph, "an index of a sparse tensor is {}, expected a value in [0, {})", index[i], limit);
  }
}

Tensor to_dense(const SparseTensor& sparse) {
  Tensor dense(sparse.dtype, sparse.dense_shape);
  const int bits = bits_of(sparse.dtype);
  const bool is_text = sparse.dtype == DType::string;
  if (!is_text) std::memset(dense.raw(), 0, dense.bytes());
  const Shape strides = strides_of(sparse.dense_shape);
  const bool linear = sparse.indices.shape().rank() == 1;
  const int64_t* index = sparse.indices.data<int64_t>();
  for (int64_t i = 0; i < sparse.values.elements(); ++i) {
    int64_t at = linear ? index[i] : 0;
    for (size_t axis = 0; !linear && axis < strides.size(); ++axis)
      at += index[i * static_cast<int64_t>(strides.size()) + static_cast<int64_t>(axis)] * strides[axis];
    if (is_text) {
      dense.data<std::string>()[at] = sparse.values.data<std::string>()[i];
    } else if (bits < 8) {
      set_packed_code(dense.raw(), bits, at, packed_code(sparse.values.raw(), bits, i));
    } else {
      const size_t width = static_cast<size_t>(bits / 8);
      std::memcpy(static_cast<char*>(dense.raw()) + static_cast<size_t>(at) * width,
                  static_cast<const char*>(sparse.values.raw()) + static_cast<size_t>(i) * width, width);
    }
  }
  return dense;
}

}  // namespace rh
