#include "support/op_case.h"

namespace rh::test {
namespace {

using Products = Concat<FloatingTypes, Types<int32_t, int64_t, uint32_t, uint64_t>>;

const std::vector<OpCase> kMatMul = {
    {13, {}, {normal({2, 3}), normal({3, 4})}, "matrices"},
    {13, {}, {normal({37, 129}), normal({129, 65})}, "odd sizes beyond a tile"},
    {13, {}, {normal({7, 300}), normal({300, 33}).constant()}, "packed constant"},
    {13, {}, {normal({5, 1, 7, 3}), normal({4, 3, 2})}, "broadcast batch"},
    {13, {}, {normal({2, 5, 8}), normal({8, 6}).constant()}, "batch against one constant matrix"},
    {13, {}, {normal({5}), normal({5})}, "vectors"},
    {13, {}, {normal({5}), normal({3, 5, 2})}, "vector and batch"},
    {13, {}, {normal({3, 2, 5}), normal({5})}, "batch and vector"},
    {13, {}, {normal({0, 5}), normal({5, 3})}, "no rows"},
    {13, {}, {normal({2, 0}), normal({0, 3})}, "nothing to sum gives zeros"},
    {13, {}, {normal({2, 3}), normal({4, 5})}, "sizes do not fit", {"[2, 3]", "[4, 5]", "3", "4"}},
};
RH_OP_TEST(MatMul, kMatMul, Products::set)

const std::vector<OpCase> kGemm = {
    {13, {}, {normal({4, 5}), normal({5, 6})}, "without C"},
    {13, {}, {normal({4, 5}), normal({5, 6}), normal({6})}, "bias a column"},
    {13, {attr("alpha", 0.5f), attr("beta", 2.0f)}, {normal({4, 5}), normal({5, 6}), normal({4, 1})}, "scales, C a column"},
    {13, {attr("transA", 1), attr("transB", 1)}, {normal({5, 4}), normal({6, 5}), normal({4, 6})}, "transposed, full C"},
    {13, {attr("transB", 1)}, {normal({1, 300}), normal({70, 300}).constant(), normal({70}).constant()}, "one row, packed"},
    {11, {}, {normal({4, 5}), normal({5, 6}), normal({})}, "scalar C"},
    {13, {attr("beta", 0.0f)}, {normal({4, 5}), normal({5, 6}), normal({6})}, "beta 0"},
    {13, {}, {normal({4, 5}), normal({6, 5})}, "sizes do not fit", {"[4, 5]", "[6, 5]"}},
    {13, {}, {normal({4, 5}), normal({5, 6}), normal({5})}, "C does not broadcast", {"[5]", "[4, 6]"}},
};
RH_OP_TEST(Gemm, kGemm, FloatingTypes::set)

// Scaled in float64 and cut at the end, as ONNX's reference does; the stock library has no such kernel.
OpCase integer_gemm(float alpha, float beta, std::vector<double> expected) {
  OpCase c{13,
           {attr("alpha", alpha), attr("beta", beta)},
           {values({1, 2}, {3, 4}), values({2, 2}, {1, 2, 3, 4}), values({2}, {3, 7})},
           "factors",
           {},
           1,
           0,
           "",
           "Gemm"};
  c.expected = {values({1, 2}, std::move(expected))};
  return c;
}

const std::vector<OpCase> kIntegerGemm = {integer_gemm(0.5f, 1, {10, 18}), integer_gemm(1, 0.5f, {16, 25}), integer_gemm(2, 1, {33, 51})};
RH_OP_TEST(IntegerGemm, kIntegerGemm, (Types<int32_t, uint64_t>::set))

OpCase contributed(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, const char* op_type = nullptr) {
  return {1, std::move(attributes), std::move(inputs), purpose, {}, 1, 0, "com.microsoft", op_type};
}

const std::vector<OpCase> kFusedGemm = {
    contributed({}, {normal({4, 5}), normal({5, 6}), normal({6})}, "nothing fused"),
    contributed({attr("activation", "Relu")}, {normal({14, 5}), normal({5, 33}).constant(), normal({33})}, "Relu, packed"),
    contributed({attr("activation", "LeakyRelu"), attr("activation_alpha", 0.25f), attr("beta", 0.5f)},
                {normal({4, 5}), normal({5, 6}), normal({4, 1})}, "LeakyRelu, C a column"),
    contributed({attr("activation", "Sigmoid"), attr("transB", 1)}, {normal({1, 70}), normal({40, 70}).constant(), normal({40})},
                "Sigmoid, one row"),
    contributed({attr("activation", "Tanh"), attr("transA", 1), attr("alpha", 0.5f)}, {normal({5, 4}), normal({5, 6})}, "Tanh, no C"),
};
RH_OP_TEST(FusedGemm, kFusedGemm, FloatingTypes::set)

const std::vector<OpCase> kFusedMatMul = {
    contributed({attr("alpha", 0.25f)}, {normal({4, 5}), normal({5, 6})}, "a factor"),
    contributed({attr("transA", 1)}, {normal({2, 5, 4}), normal({2, 5, 6})}, "left transposed"),
    contributed({attr("transB", 1), attr("alpha", 0.125f)}, {normal({2, 3, 4, 5}), normal({2, 3, 6, 5})}, "right transposed"),
    contributed({attr("transA", 1), attr("transB", 1)}, {normal({3, 5, 4}), normal({6, 5}).constant()}, "both, packed"),
    contributed({attr("transB", 1)}, {normal({3, 4, 5}), normal({6, 5}).constant()}, "rows of the batch, packed"),
    contributed({attr("transBatchA", 1)}, {normal({4, 2, 3, 5}), normal({2, 3, 5, 6})}, "left batch transposed"),
    contributed({attr("transBatchB", 1), attr("transB", 1)}, {normal({2, 3, 4, 5}), normal({6, 2, 3, 5})}, "right batch transposed"),
    contributed({}, {normal({5}), normal({3, 5, 2})}, "vector and batch"),
    contributed({attr("activation", "Relu")}, {normal({2, 4, 5}), normal({5, 6})}, "Relu", "FusedMatMulActivation"),
    contributed({attr("activation", "Tanh"), attr("alpha", 0.25f), attr("transB", 1)}, {normal({2, 4, 5}), normal({2, 6, 5})}, "Tanh",
                "FusedMatMulActivation"),
};
RH_OP_TEST(FusedMatMul, kFusedMatMul, FloatingTypes::set)

OpCase own(std::vector<Input> inputs, const char* purpose, std::vector<Input> expected, std::vector<std::string> fails = {}) {
  return {1, {attr("transB", 1)}, std::move(inputs), purpose, std::move(fails), 1, 0, "roundhouse", "FusedMatMul", std::move(expected)};
}

const Input kHalves = values({2, 3}, {1, 2, 3, 0.5, -1, 4}).as(DType::float16);
const Input kFloats = values({1, 3}, {1, 10, 100}).as(DType::float32);

const std::vector<OpCase> kMixedMatMul = {
    own({kFloats, kHalves.constant(), values({2}, {0.25, 0}).as(DType::float32)}, "a right operand of halves",
        {values({1, 2}, {321.25, 390.5}).as(DType::float32)}),
    own({kFloats, kHalves}, "halves that are not constant", {}, {"float", "float16"}),
    own({kFloats, values({2, 3}, {1, 2, 3, 4, 5, 6}).as(DType::float64).constant()}, "doubles", {}, {"float", "double"}),
};
RH_OP_TEST(MixedMatMul, kMixedMatMul, (Types<float>::set))

}  // namespace
}  // namespace rh::test
