#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kConstant = {
    {13, {attr("value", Tensor::from<double>({2, 2}, std::vector<double>{1, 2, 3, 4}))}, {}, "tensor"},
    {1, {attr("value", Tensor::scalar<int32_t>(7))}, {}, "scalar tensor"},
    {13, {attr("value_int", 5)}, {}, "integer"},
    {12, {attr("value_ints", Ints{5, 6})}, {}, "integers"},
    {12, {attr("value_float", 2.5f)}, {}, "float"},
    {13, {attr("value_floats", std::vector<float>{2.5f, -1})}, {}, "floats"},
    {13, {attr("value_string", "text")}, {}, "string"},
    {13, {attr("value_strings", std::vector<std::string>{"a", "", "c"})}, {}, "strings"},
    {13, {}, {}, "nothing given", {"value", "sparse_value"}},
};
RH_OP_TEST(Constant, kConstant, Types<float>::set)

TEST(Constant, SparseValueBecomesDense) {
  SparseTensor sparse;
  sparse.format = SparseTensor::Format::coo;
  sparse.dtype = DType::float32;
  sparse.dense_shape = {2, 3};
  sparse.values = Tensor::from<float>({2}, std::vector<float>{5, 7});
  for (const Tensor& indices : {Tensor::ints(Ints{1, 5}), Tensor::from<int64_t>({2, 2}, Ints{0, 1, 1, 2})}) {
    sparse.indices = indices;
    run_op_cases("Constant", {{11, {Attribute{"sparse_value", sparse}}, {}, "sparse"}}, Types<float>::set);
  }
  sparse.indices = Tensor::ints(Ints{1, 6});
  run_op_cases("Constant", {{11, {Attribute{"sparse_value", sparse}}, {}, "index out of range", {"6", "[0, 6)"}}}, Types<float>::set);
}

}  // namespace
}  // namespace rh::test
