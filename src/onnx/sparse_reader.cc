#include "base/error.h"
#include "onnx/located.h"
#include "onnx/proto.h"
#include "onnx/tensor_reader.h"
#include "tensor/sparse.h"

namespace rh::onnx {

namespace {

/// A sparse initializer becomes dense up to this size: its own bytes times a factor, so that a small file cannot ask for much memory.
constexpr size_t kDenseBytes = 64 << 10;
constexpr size_t kDenseFactor = 1024;

}  // namespace

Value initializer_of(SparseTensor sparse) {
  const size_t dense = bytes_of(sparse.dtype, sparse.dense_shape.elements());
  const size_t own = sparse.values.bytes() + sparse.indices.bytes();
  if (dense <= kDenseBytes || dense / kDenseFactor <= own) return to_dense(sparse);
  return sparse;
}

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
                   if (!sparse.indices.defined() && sparse.values.elements() == 0) sparse.indices = Tensor(DType::int64, {0});
                   widen_indices(sparse);
                   check_coo(sparse);
                   return std::move(sparse);
                 });
}

}  // namespace rh::onnx
