// Values that are sparse tensors.
#include <algorithm>
#include <cstring>
#include <span>

#include "abi/allocator.h"
#include "abi/element_type.h"
#include "abi/type_info.h"
#include "abi/value.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

SparseTensor& sparse_of(OrtValue* value) {
  Value& content = checked(value, "ort_value").value;
  if (!content.is_sparse()) fail(ErrorCode::fail, "the value is not a sparse tensor");
  return content.sparse();
}

const SparseTensor& sparse_of(const OrtValue* value) { return sparse_of(const_cast<OrtValue*>(value)); }

/// One that can still be filled.
SparseTensor& unfilled(OrtValue* value) {
  SparseTensor& sparse = sparse_of(value);
  if (sparse.format != SparseTensor::Format::undefined) fail(ErrorCode::fail, "the sparse tensor already has a format");
  return sparse;
}

SparseTensor make(ONNXTensorElementDataType type, const int64_t* dims, size_t rank) {
  SparseTensor sparse;
  sparse.dtype = abi::to_dtype(type);
  if (sparse.dtype == DType::undefined) fail(ErrorCode::not_implemented, "tensor element type {} is not known", static_cast<int>(type));
  sparse.dense_shape = abi::checked_shape(dims, rank, sparse.dtype);
  return sparse;
}

Tensor copy_of(DType dtype, const Shape& shape, const void* data, const char* argument) {
  checked_array(static_cast<const char*>(data), bytes_of(dtype, shape.elements()), argument);
  Tensor tensor(dtype, shape);
  if (dtype == DType::string) {  // the values of a sparse string tensor arrive as C strings
    for (int64_t i = 0; i < shape.elements(); ++i) tensor.data<std::string>()[i] = static_cast<const char* const*>(data)[i];
  } else if (tensor.bytes() != 0) {
    std::memcpy(tensor.raw(), data, tensor.bytes());
  }
  return tensor;
}

/// The caller's memory, without a copy.
template <typename T>
Tensor view_of(Shape shape, T* data, const char* argument) {
  checked_array(data, static_cast<size_t>(shape.elements()), argument);
  return Tensor(dtype_of<std::remove_const_t<T>>, std::move(shape), const_cast<std::remove_const_t<T>*>(data), nullptr);
}

/// Linear positions [nnz], or coordinates [nnz, 2].
Shape coo_shape(const SparseTensor& sparse, size_t indices) {
  const size_t count = static_cast<size_t>(sparse.values.elements());
  if (indices == count) return {static_cast<int64_t>(count)};
  if (indices == 2 * count && sparse.dense_shape.rank() == 2) return {static_cast<int64_t>(count), 2};
  fail(ErrorCode::invalid_argument, "COO: {} indices for {} values; as many, or twice as many for two dimensions, are needed", indices,
       count);
}

void check_csr(const SparseTensor& sparse, size_t inner, size_t outer) {
  if (sparse.dense_shape.rank() != 2) fail(ErrorCode::invalid_argument, "CSR needs a dense shape of two dimensions");
  const size_t count = static_cast<size_t>(sparse.values.elements());
  const size_t rows = static_cast<size_t>(sparse.dense_shape[0]);
  if (inner != count) fail(ErrorCode::invalid_argument, "CSR: {} inner indices for {} values", inner, count);
  if (outer != rows + 1 && !(outer == 0 && count == 0)) {
    fail(ErrorCode::invalid_argument, "CSR: {} outer indices for {} rows; one more than rows is needed", outer, rows);
  }
}

void check_index(int64_t index, int64_t limit, const char* what) {
  if (index < 0 || index >= limit) fail(ErrorCode::invalid_argument, "{} is {}, expected a value in [0, {})", what, index, limit);
}

void check_coo_indices(const SparseTensor& sparse) {
  const std::span<const int64_t> indices(sparse.indices.data<int64_t>(), static_cast<size_t>(sparse.indices.elements()));
  const bool linear = sparse.indices.shape().rank() == 1;
  const int64_t elements = sparse.dense_shape.elements();
  for (size_t i = 0; i < indices.size(); ++i) check_index(indices[i], linear ? elements : sparse.dense_shape[i % 2], "COO: an index");
}

void check_csr_indices(const SparseTensor& sparse) {
  for (int64_t i = 0; i < sparse.indices.elements(); ++i) {
    check_index(sparse.indices.data<int64_t>()[i], sparse.dense_shape[1], "CSR: an inner index");
  }
  const std::span<const int64_t> outer(sparse.outer_indices.data<int64_t>(), static_cast<size_t>(sparse.outer_indices.elements()));
  if (outer.empty()) return;
  if (outer.front() != 0 || outer.back() != sparse.values.elements() || !std::ranges::is_sorted(outer)) {
    fail(ErrorCode::invalid_argument, "CSR: the outer indices are {} to {}, expected 0 to the number of values, {}, in ascending order",
         outer.front(), outer.back(), sparse.values.elements());
  }
}

/// Of blocks: values [rows, columns, blocks], or [0] where there are none, and indices [2, blocks].
void check_block_shapes(const SparseTensor& sparse) {
  const Shape &values = sparse.values.shape(), &indices = sparse.indices.shape();
  if (values.elements() == 0 ? values.rank() == 1 : values.rank() >= 3 && indices == Shape({2, values[values.rank() - 1]})) return;
  fail(ErrorCode::fail, "blocks: the values are {} and the indices {}, expected [rows, columns, blocks] and [2, blocks], or [0] for none",
       values.to_string(), indices.to_string());
}

/// Of blocks: rows and columns, one list after the other.
void check_block_indices(const SparseTensor& sparse) {
  const Shape& indices = sparse.indices.shape();
  if (indices.rank() != 2 || indices[0] != 2 || sparse.dense_shape.rank() != 2) return;
  for (int64_t i = 0; i < sparse.indices.elements(); ++i) {
    check_index(sparse.indices.data<int32_t>()[i], sparse.dense_shape[i < indices[1] ? 0 : 1], "blocks: an index");
  }
}

Shape length(size_t count) { return {static_cast<int64_t>(count)}; }

const Tensor& indices_of(const SparseTensor& sparse, OrtSparseIndicesFormat format) {
  using Format = SparseTensor::Format;
  switch (format) {
    case ORT_SPARSE_COO_INDICES:
      if (sparse.format == Format::coo) return sparse.indices;
      break;
    case ORT_SPARSE_CSR_INNER_INDICES:
      if (sparse.format == Format::csr) return sparse.indices;
      break;
    case ORT_SPARSE_CSR_OUTER_INDICES:
      if (sparse.format == Format::csr) return sparse.outer_indices;
      break;
    case ORT_SPARSE_BLOCK_SPARSE_INDICES:
      if (sparse.format == Format::block) return sparse.indices;
      break;
  }
  fail(ErrorCode::fail, "the sparse tensor has no indices of kind {}", static_cast<int>(format));
}

}  // namespace

OrtStatus* ORT_API_CALL IsSparseTensor(const OrtValue* value, int* out) {
  return guard([&] { checked(out, "out") = checked(value, "value").value.is_sparse() ? 1 : 0; });
}

OrtStatus* ORT_API_CALL CreateSparseTensorAsOrtValue(OrtAllocator* allocator, const int64_t* dims, size_t rank,
                                                     ONNXTensorElementDataType type, OrtValue** out) {
  return guard([&] {
    checked(allocator, "allocator");
    checked(out, "out");
    *out = new OrtValue(make(type, dims, rank));
  });
}

OrtStatus* ORT_API_CALL CreateSparseTensorWithValuesAsOrtValue(const OrtMemoryInfo* info, void* data, const int64_t* dims, size_t rank,
                                                               const int64_t* values_dims, size_t values_rank,
                                                               ONNXTensorElementDataType type, OrtValue** out) {
  return guard([&] {
    SparseTensor sparse = make(type, dims, rank);
    const Shape shape = abi::checked_shape(values_dims, values_rank, sparse.dtype);
    if (sparse.dtype == DType::string) fail(ErrorCode::invalid_argument, "strings cannot be referred to; fill a sparse tensor with them");
    checked_array(static_cast<char*>(data), bytes_of(sparse.dtype, shape.elements()), "p_data");
    sparse.values = Tensor(sparse.dtype, shape, data, nullptr, abi::device_of(checked(info, "info")));
    checked(out, "out");
    *out = new OrtValue(std::move(sparse), std::make_shared<OrtMemoryInfo>(*info));
  });
}

OrtStatus* ORT_API_CALL FillSparseTensorCoo(OrtValue* value, const OrtMemoryInfo*, const int64_t* values_dims, size_t values_rank,
                                            const void* values, const int64_t* indices, size_t indices_count) {
  return guard([&] {
    SparseTensor filled = unfilled(value);
    filled.values = copy_of(filled.dtype, abi::checked_shape(values_dims, values_rank, filled.dtype), values, "values");
    filled.indices = copy_of(DType::int64, coo_shape(filled, indices_count), indices, "indices_data");
    check_coo_indices(filled);
    filled.format = SparseTensor::Format::coo;
    sparse_of(value) = std::move(filled);
  });
}

OrtStatus* ORT_API_CALL FillSparseTensorCsr(OrtValue* value, const OrtMemoryInfo*, const int64_t* values_dims, size_t values_rank,
                                            const void* values, const int64_t* inner, size_t inner_count, const int64_t* outer,
                                            size_t outer_count) {
  return guard([&] {
    SparseTensor filled = unfilled(value);
    filled.values = copy_of(filled.dtype, abi::checked_shape(values_dims, values_rank, filled.dtype), values, "values");
    check_csr(filled, inner_count, outer_count);
    filled.indices = copy_of(DType::int64, length(inner_count), inner, "inner_indices_data");
    filled.outer_indices = copy_of(DType::int64, length(outer_count), outer, "outer_indices_data");
    check_csr_indices(filled);
    filled.format = SparseTensor::Format::csr;
    sparse_of(value) = std::move(filled);
  });
}

OrtStatus* ORT_API_CALL FillSparseTensorBlockSparse(OrtValue* value, const OrtMemoryInfo*, const int64_t* values_dims, size_t values_rank,
                                                    const void* values, const int64_t* indices_dims, size_t indices_rank,
                                                    const int32_t* indices) {
  return guard([&] {
    SparseTensor filled = unfilled(value);
    filled.values = copy_of(filled.dtype, abi::checked_shape(values_dims, values_rank, filled.dtype), values, "values");
    filled.indices = copy_of(DType::int32, abi::checked_shape(indices_dims, indices_rank, DType::int32), indices, "indices_data");
    check_block_shapes(filled);
    check_block_indices(filled);
    filled.format = SparseTensor::Format::block;
    sparse_of(value) = std::move(filled);
  });
}

OrtStatus* ORT_API_CALL UseCooIndices(OrtValue* value, int64_t* indices, size_t count) {
  return guard([&] {
    SparseTensor seen = unfilled(value);
    seen.indices = view_of(coo_shape(seen, count), indices, "indices_data");
    if (seen.values.device().is_host()) check_coo_indices(seen);
    seen.format = SparseTensor::Format::coo;
    sparse_of(value) = std::move(seen);
  });
}

OrtStatus* ORT_API_CALL UseCsrIndices(OrtValue* value, int64_t* inner, size_t inner_count, int64_t* outer, size_t outer_count) {
  return guard([&] {
    SparseTensor seen = unfilled(value);
    check_csr(seen, inner_count, outer_count);
    seen.indices = view_of(length(inner_count), inner, "inner_data");
    seen.outer_indices = view_of(length(outer_count), outer, "outer_data");
    if (seen.values.device().is_host()) check_csr_indices(seen);
    seen.format = SparseTensor::Format::csr;
    sparse_of(value) = std::move(seen);
  });
}

OrtStatus* ORT_API_CALL UseBlockSparseIndices(OrtValue* value, const int64_t* dims, size_t rank, int32_t* indices) {
  return guard([&] {
    SparseTensor seen = unfilled(value);
    seen.indices = view_of(abi::checked_shape(dims, rank, DType::int32), indices, "indices_data");
    check_block_shapes(seen);
    if (seen.values.device().is_host()) check_block_indices(seen);
    seen.format = SparseTensor::Format::block;
    sparse_of(value) = std::move(seen);
  });
}

OrtStatus* ORT_API_CALL GetSparseTensorFormat(const OrtValue* value, OrtSparseFormat* out) {
  return guard([&] {
    OrtSparseFormat& format = checked(out, "out");
    switch (sparse_of(value).format) {
      case SparseTensor::Format::undefined: format = ORT_SPARSE_UNDEFINED; break;
      case SparseTensor::Format::coo: format = ORT_SPARSE_COO; break;
      case SparseTensor::Format::csr: format = ORT_SPARSE_CSRC; break;
      case SparseTensor::Format::block: format = ORT_SPARSE_BLOCK_SPARSE; break;
    }
  });
}

OrtStatus* ORT_API_CALL GetSparseTensorValuesTypeAndShape(const OrtValue* value, OrtTensorTypeAndShapeInfo** out) {
  return guard([&] {
    const SparseTensor& sparse = sparse_of(value);
    checked(out, "out");
    *out = new OrtTensorTypeAndShapeInfo(abi::tensor_info_of(sparse.dtype, sparse.values.shape()));
  });
}

OrtStatus* ORT_API_CALL GetSparseTensorValues(const OrtValue* value, const void** out) {
  return guard([&] {
    const SparseTensor& sparse = sparse_of(value);
    if (sparse.dtype == DType::string) fail(ErrorCode::invalid_argument, "string values have no memory to point to");
    checked(out, "out") = sparse.values.raw();
  });
}

OrtStatus* ORT_API_CALL GetSparseTensorIndicesTypeShape(const OrtValue* value, OrtSparseIndicesFormat format,
                                                        OrtTensorTypeAndShapeInfo** out) {
  return guard([&] {
    const Tensor& indices = indices_of(sparse_of(value), format);
    checked(out, "out");
    *out = new OrtTensorTypeAndShapeInfo(abi::tensor_info_of(indices.dtype(), indices.shape()));
  });
}

OrtStatus* ORT_API_CALL GetSparseTensorIndices(const OrtValue* value, OrtSparseIndicesFormat format, size_t* count, const void** out) {
  return guard([&] {
    const Tensor& indices = indices_of(sparse_of(value), format);
    checked(count, "num_indices") = static_cast<size_t>(indices.elements());
    checked(out, "indices") = indices.raw();
  });
}

}  // namespace rh::capi
