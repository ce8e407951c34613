#include <cstring>

#include "base/error.h"
#include "onnx/located.h"
#include "onnx/proto.h"
#include "onnx/tensor_reader.h"

namespace rh::onnx {

namespace {

void check_sparse(SparseTensor& sparse) {
  const int64_t elements = checked_elements(sparse.dense_shape);
  if (sparse.values.shape().rank() != 1) {
    fail(ErrorCode::invalid_graph, "the values of a sparse tensor have shape {}, expected one dimension",
         sparse.values.shape().to_string());
  }
  const int64_t count = sparse.values.elements();
  if (!sparse.indices.defined() && count == 0) sparse.indices = Tensor(DType::int64, {0});
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

}  // namespace

SparseTensor TensorReader::read_sparse(std::string_view message, std::string_view* name) {
  SparseTensor sparse;
  sparse.format = SparseTensor::Format::coo;
  bool has_values = false;
  std::string_view values_name;
  Wire wire = wire_of(message);
  const auto add_dim = [&](uint64_t dim) {
    if (sparse.dense_shape.size() == kMaxRank) fail(ErrorCode::invalid_graph, "the sparse tensor has more than {} dimensions", kMaxRank);
    sparse.dense_shape.push_back(static_cast<int64_t>(dim));
  };
  while (wire.next()) {
    switch (wire.tag_and_type()) {
      case length_delimited(field::sparse_tensor::values):
        sparse.values = read(content(wire), &values_name);
        has_values = true;
        break;
      case length_delimited(field::sparse_tensor::indices): sparse.indices = read(content(wire)); break;
      case varint(field::sparse_tensor::dims): add_dim(wire.get_uint64()); break;
      case length_delimited(field::sparse_tensor::dims): for_each_packed(content(wire), add_dim); break;
      default: wire.skip();
    }
  }
  if (name) *name = values_name;
  return located([&] { return Where{.file = {}, .node = {}, .op = {}, .tensor = std::string(values_name)}; },
                 [&] {
                   if (!has_values) fail(ErrorCode::invalid_graph, "a sparse tensor has no values");
                   sparse.dtype = sparse.values.dtype();
                   check_sparse(sparse);
                   return std::move(sparse);
                 });
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

}  // namespace rh::onnx
