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

// The kind of the first attribute says what it is, whatever its name, as in ONNX Runtime.
Constant Constant::read(const NodeView& node) {
  if (node.node().attributes.empty()) {
    node.fail(
        "no value is given, expected one of value, sparse_value, value_int, value_ints, value_float, value_floats, value_string, "
        "value_strings");
  }
  const Attribute& given = node.node().attributes.front();
  if (const auto* tensor = given.get<Tensor>()) return {*tensor, {}};
  if (const auto* sparse = given.get<SparseTensor>()) return {{}, *sparse};
  if (const auto* number = given.get<int64_t>()) return {Tensor::scalar<int64_t>(*number), {}};
  if (const auto* numbers = given.get<std::vector<int64_t>>()) return {vector_of(*numbers), {}};
  if (const auto* number = given.get<float>()) return {Tensor::scalar<float>(*number), {}};
  if (const auto* numbers = given.get<std::vector<float>>()) return {vector_of(*numbers), {}};
  if (const auto* text = given.get<std::string>()) return {Tensor::scalar<std::string>(*text), {}};
  if (const auto* texts = given.get<std::vector<std::string>>()) return {vector_of(*texts), {}};
  node.fail("attribute '{}' is neither a tensor nor a sparse one, and neither numbers nor text", given.name);
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
