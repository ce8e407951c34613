#include <array>

#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kConstantOfShape = {
    {9, {}, {ints({2, 3})}, "zeros at run time"},
    {9, {attr("value", Tensor::from<int64_t>({1}, Ints{7}))}, {ints({4}).constant()}, "integers"},
    {9, {attr("value", Tensor::from<bool>({1}, std::array<bool, 1>{true}))}, {ints({3, 1}).constant()}, "bool"},
    {9, {attr("value", Tensor::from<Float16>({1}, std::vector<Float16>{Float16(1.5f)}))}, {ints({3, 100}).constant()}, "half"},
    {9, {}, {ints({}).constant()}, "scalar"},
    {9, {}, {ints({0, 3})}, "empty"},
    {9, {}, {ints({2, -3})}, "negative size", {"-3"}},
    {9, {}, {ints({2, 1LL << 40, 1LL << 40})}, "too many elements", {"too many elements"}},
};
RH_OP_TEST(ConstantOfShape, kConstantOfShape, Types<float>::set)

TEST(ConstantOfShape, PackedAndStringValues) {
  Tensor nibble(DType::int4, {1});
  set_packed_code(nibble.raw(), 4, 0, 0xd);
  Tensor text(DType::string, {1});
  text.data<std::string>()->assign(3, 'x');
  for (const Tensor& value : {nibble, text}) {
    run_op_cases("ConstantOfShape", {{21, {attr("value", value)}, {ints({3, 3})}, "value"}}, Types<float>::set);
  }
}

}  // namespace
}  // namespace rh::test
