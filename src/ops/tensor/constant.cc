#include "ops/tensor/constant.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"
#include "tensor/sparse.h"

namespace rh::ops {

namespace {

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
  check_coo(*sparse);
  return to_dense(*sparse);
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
