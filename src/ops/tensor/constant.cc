#include "ops/tensor/constant.h"

#include <cstring>

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

Tensor make_dense(const SparseTensor& sparse) {
  Tensor tensor(sparse.dtype, sparse.dense_shape);
  const int bits = bits_of(sparse.dtype);
  if (bits == 0) {
    if (sparse.dtype != DType::string) fail(ErrorCode::invalid_graph, "sparse_value has no element type");
  } else {
    std::memset(tensor.raw(), 0, tensor.bytes());
  }
  const int rank = sparse.dense_shape.rank();
  const int64_t count = sparse.values.elements(), elements = sparse.dense_shape.elements();
  const bool linear = sparse.indices.shape().rank() == 1;
  if (sparse.indices.elements() != (linear ? count : count * rank)) {
    fail(ErrorCode::invalid_graph, "sparse_value has {} values but indices of shape {}", count, sparse.indices.shape().to_string());
  }
  const ::rh::Shape strides = strides_of(sparse.dense_shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int k = 0; k < (linear ? 1 : rank); ++k) {
      const int64_t index = element_as_int(sparse.indices.view(), linear ? i : i * rank + k);
      const int64_t size = linear ? elements : sparse.dense_shape[k];
      if (index < 0 || index >= size)
        fail(ErrorCode::invalid_graph, "indices of sparse_value has {}, expected a value in [0, {}]", index, size - 1);
      at += linear ? index : index * strides[k];
    }
    if (bits == 0) {
      tensor.data<std::string>()[at] = sparse.values.data<std::string>()[i];
    } else if (bits < 8) {
      set_packed_code(tensor.raw(), bits, at, packed_code(sparse.values.raw(), bits, i));
    } else {
      const size_t size = static_cast<size_t>(bits / 8);
      std::memcpy(static_cast<char*>(tensor.raw()) + at * size, static_cast<const char*>(sparse.values.raw()) + i * size, size);
    }
  }
  return tensor;
}

template <typename T>
Tensor vector_of(const std::vector<T>& values) {
  return Tensor::from<T>({static_cast<int64_t>(values.size())}, values);
}

}  // namespace

Constant Constant::read(const NodeView& node) {
  if (const Tensor* tensor = node.tensor("value")) return {*tensor};
  if (node.has("value_int")) return {Tensor::scalar<int64_t>(node.required_int("value_int"))};
  if (node.has("value_ints")) return {vector_of(node.ints_or("value_ints"))};
  if (node.has("value_float")) return {Tensor::scalar<float>(node.float_or("value_float", 0))};
  if (node.has("value_floats")) return {vector_of(node.floats_or("value_floats"))};
  if (node.has("value_string")) return {Tensor::scalar<std::string>(node.required_string("value_string"))};
  if (node.has("value_strings")) return {vector_of(node.strings_or("value_strings"))};
  if (const Attribute* attribute = node.node().attribute("sparse_value")) {
    const SparseTensor* sparse = attribute->get<SparseTensor>();
    if (!sparse) node.fail("attribute '{}' has the wrong kind, expected a sparse tensor", "sparse_value");
    return {.value = {}, .sparse = *sparse};
  }
  node.fail(
      "no value is given, expected one of value, sparse_value, value_int, value_ints, value_float, value_floats, value_string, "
      "value_strings");
}

Tensor Constant::dense() const {
  if (!sparse) return value;
  constexpr size_t kLeastBytes = 64 << 10, kGrowth = 1024;
  const size_t bytes = bytes_of(sparse->dtype, sparse->dense_shape.elements());
  if (bytes > kLeastBytes && bytes / kGrowth > sparse->values.bytes()) {
    fail(ErrorCode::not_implemented, "the sparse constant {}{} has {} values, expected at least one in {} elements",
         to_string(sparse->dtype), sparse->dense_shape.to_string(), sparse->values.elements(), kGrowth);
  }
  return make_dense(*sparse);
}

void infer(const Constant& op, InferenceContext& context) {
  const ::rh::Shape& shape = op.shape();
  const DType dtype = op.dtype();
  context.set_output(0, dtype, SymbolicShape(shape.begin(), shape.end()));
  if ((dtype != DType::int64 && dtype != DType::int32) || shape.rank() > 1 || shape.elements() > 64) return;
  const Tensor value = op.dense();
  SymbolicShape contents;
  for (int64_t i = 0; i < value.elements(); ++i) contents.push_back(Dim(element_as_int(value.view(), i)));
  context.set_output_contents(0, std::move(contents));
}

}  // namespace rh::ops

RH_DEFINE_OP(Constant)
