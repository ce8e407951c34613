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
    {13, {}, {normal({6, 20, 40}), normal({6, 40, 64}).constant()}, "a batch of constant matrices"},
    {13, {}, {normal({2, 1, 20, 40}), normal({3, 40, 33}).constant()}, "the same, broadcast, in panels that they do not fill"},
    {13, {}, {normal({2, 1, 20, 40}), normal({3, 40, 60}).constant()}, "the same, broadcast"},
    {13, {}, {normal({3, 5, 20, 300}), normal({3, 1, 300, 64}).constant()}, "the same, each for several"},
    {13, {}, {normal({300}), normal({3, 300, 32}).constant()}, "vector and constant batch"},
    {13, {}, {normal({20, 40}), normal({3, 40, 64}).constant()}, "one matrix and a constant batch"},
    {13, {}, {normal({3, 20, 40}), normal({1, 40, 64}).constant()}, "a constant batch of one"},
    {13, {}, {normal({2, 200, 100}), normal({2, 100, 128}).constant()}, "large enough for threads"},
    {13, {}, {normal({3, 150, 100}), normal({3, 100, 128}).constant()}, "threads share each"},
    {13, {}, {normal({3, 1, 512}), normal({3, 512, 32}).constant()}, "one row by each of a constant batch"},
    {13, {}, {normal({7, 40}).constant(), normal({40, 60})}, "a constant left operand"},
    {13, {}, {normal({70, 130}).constant(), normal({4, 130, 100})}, "the same for a batch"},
    {13, {}, {normal({1, 1, 9, 130}).constant(), normal({2, 130, 20})}, "the same, a batch of one"},
    {13, {}, {normal({3, 16, 33}).constant(), normal({2, 3, 33, 70})}, "a constant batch on the left"},
    {13, {}, {normal({2, 1, 16, 33}).constant(), normal({3, 33, 70})}, "the same, broadcast"},
    {13, {}, {normal({3, 16, 33}).constant(), normal({33, 70})}, "the same by one matrix"},
    {13, {}, {normal({3, 16, 33}).constant(), normal({33})}, "the same by a vector"},
    {13, {}, {normal({3, 100, 110}).constant(), normal({3, 110, 120})}, "a constant batch on the left, threads share each"},
    {13, {}, {normal({16, 33}).constant(), normal({5, 33, 0})}, "no columns"},
    {13, {}, {normal({16, 33}).constant(), normal({5, 34, 70})}, "a constant left operand does not fit", {"[16, 33]", "[5, 34, 70]"}},
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
    {13, {attr("alpha", -2.0f), attr("transB", 1)}, {normal({40, 5}), normal({3, 5}), normal({40, 1})}, "a factor, C a column"},
    {13, {attr("alpha", -2.0f), attr("transB", 1)}, {normal({40, 50}), normal({30, 50}), normal({40, 1})}, "larger, a factor, C a column"},
    {13, {attr("transA", 1), attr("transB", 1)}, {normal({5, 4}), normal({6, 5}), normal({4, 6})}, "transposed, full C"},
    {13, {attr("transB", 1)}, {normal({1, 300}), normal({70, 300}).constant(), normal({70}).constant()}, "one row, packed"},
    {13, {}, {normal({14, 40}).constant(), normal({40, 60})}, "a constant left operand"},
    {13,
     {attr("transA", 1)},
     {normal({40, 14}).constant(), normal({40, 60}), normal({14, 1}).constant()},
     "the same transposed, C a column"},
    {13, {}, {normal({14, 40}).constant(), normal({40, 60}), normal({60}).constant()}, "a constant left operand, C a row"},
    {13, {}, {normal({60, 40}).constant(), normal({40, 60}), normal({60}).constant()}, "the same, as many rows as columns"},
    {13, {attr("beta", 2.0f)}, {normal({14, 40}).constant(), normal({40, 60}), normal({14, 1}).constant()}, "the same, C scaled"},
    {13, {}, {normal({14, 40}).constant(), normal({41, 60})}, "a constant left operand does not fit", {"[14, 40]", "[41, 60]"}},
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

OpCase contributed_product(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose,
                           const char* op_type = nullptr) {
  return {1, std::move(attributes), std::move(inputs), purpose, {}, 1, 0, "com.microsoft", op_type};
}

const std::vector<OpCase> kFusedGemm = {
    contributed_product({}, {normal({4, 5}), normal({5, 6}), normal({6})}, "nothing fused"),
    contributed_product({attr("activation", "Relu")}, {normal({14, 5}), normal({5, 33}).constant(), normal({33})}, "Relu, packed"),
    contributed_product({attr("activation", "LeakyRelu"), attr("activation_alpha", 0.25f), attr("beta", 0.5f)},
                        {normal({4, 5}), normal({5, 6}), normal({4, 1})}, "LeakyRelu, C a column"),
    contributed_product({attr("activation", "Sigmoid"), attr("transB", 1)}, {normal({1, 70}), normal({40, 70}).constant(), normal({40})},
                        "Sigmoid, one row"),
    contributed_product({attr("activation", "Tanh"), attr("transA", 1), attr("alpha", 0.5f)}, {normal({5, 4}), normal({5, 6})},
                        "Tanh, no C"),
    contributed_product({attr("activation", "Tanh")}, {normal({14, 40}).constant(), normal({40, 60}), normal({14, 1}).constant()},
                        "Tanh, a constant left operand"),
};
RH_OP_TEST(FusedGemm, kFusedGemm, FloatingTypes::set)

const std::vector<OpCase> kFusedMatMul = {
    contributed_product({attr("alpha", 0.25f)}, {normal({4, 5}), normal({5, 6})}, "a factor"),
    contributed_product({attr("transA", 1)}, {normal({2, 5, 4}), normal({2, 5, 6})}, "left transposed"),
    contributed_product({attr("transB", 1), attr("alpha", 0.125f)}, {normal({2, 3, 4, 5}), normal({2, 3, 6, 5})}, "right transposed"),
    contributed_product({attr("transA", 1), attr("transB", 1)}, {normal({3, 5, 4}), normal({6, 5}).constant()}, "both, packed"),
    contributed_product({attr("transB", 1)}, {normal({3, 4, 5}), normal({6, 5}).constant()}, "rows of the batch, packed"),
    contributed_product({attr("transBatchA", 1)}, {normal({4, 2, 3, 5}), normal({2, 3, 5, 6})}, "left batch transposed"),
    contributed_product({attr("transB", 1)}, {normal({2, 3, 14, 50}), normal({3, 64, 50}).constant()}, "a constant batch, transposed"),
    contributed_product({attr("transA", 1), attr("alpha", 0.5f)}, {normal({3, 50, 14}), normal({3, 50, 64}).constant()},
                        "left transposed by a constant batch"),
    contributed_product({attr("transBatchA", 1)}, {normal({14, 3, 50}), normal({3, 50, 64}).constant()},
                        "left batch transposed by a constant batch"),
    contributed_product({attr("transBatchB", 1)}, {normal({3, 14, 50}), normal({50, 3, 64}).constant()},
                        "a constant batch, its dimensions turned"),
    contributed_product({attr("transA", 1)}, {normal({50, 14}).constant(), normal({3, 50, 64})}, "constant left, transposed"),
    contributed_product({attr("transA", 1)}, {normal({3, 50, 14}).constant(), normal({3, 50, 64})},
                        "constant batch on the left, transposed"),
    contributed_product({attr("transB", 1)}, {normal({14, 50}).constant(), normal({3, 64, 50})}, "constant left, right transposed"),
    contributed_product({attr("transBatchA", 1)}, {normal({14, 3, 50}).constant(), normal({3, 50, 64})},
                        "constant left, its dimensions turned"),
    contributed_product({attr("alpha", 0.5f)}, {normal({14, 50}).constant(), normal({3, 50, 64})}, "constant left, a factor"),
    contributed_product({attr("activation", "Relu")}, {normal({14, 50}).constant(), normal({3, 50, 64})}, "constant left, Relu",
                        "FusedMatMulActivation"),
    contributed_product({attr("transBatchB", 1), attr("transB", 1)}, {normal({2, 3, 4, 5}), normal({6, 2, 3, 5})},
                        "right batch transposed"),
    contributed_product({}, {normal({5}), normal({3, 5, 2})}, "vector and batch"),
    contributed_product({attr("activation", "Relu")}, {normal({2, 4, 5}), normal({5, 6})}, "Relu", "FusedMatMulActivation"),
    contributed_product({attr("activation", "Tanh"), attr("alpha", 0.25f), attr("transB", 1)}, {normal({2, 4, 5}), normal({2, 6, 5})},
                        "Tanh", "FusedMatMulActivation"),
};
RH_OP_TEST(FusedMatMul, kFusedMatMul, FloatingTypes::set)

OpCase own(std::vector<Input> inputs, const char* purpose, std::vector<Input> expected, std::vector<std::string> fails = {}) {
  return {1, {attr("transB", 1)}, std::move(inputs), purpose, std::move(fails), 1, 0, "roundhouse", "FusedMatMul", std::move(expected)};
}

const Input kHalves = values({2, 3}, {1, 2, 3, 0.5, -1, 4}).as(DType::float16);
const Input kFloats = values({1, 3}, {1, 10, 100}).as(DType::float32);

// Two matrices [32, 32]: 1 and 2 times what is 1 on the diagonal.
Input diagonals() {
  std::vector<double> all(2048, 0.0);
  for (size_t i = 0; i < 32; ++i) all[33 * i] = 1, all[1024 + 33 * i] = 2;
  return values({2, 32, 32}, all).as(DType::float16);
}
/// 0, 1, 2, ... times a factor.
Input steps(Shape shape, double factor) {
  std::vector<double> all(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = factor * static_cast<double>(i % 32);
  return values(shape, all).as(DType::float32);
}
Input stairs() {
  Input sums = steps({2, 1, 32}, 1);
  for (size_t i = 0; i < 32; ++i) sums.values[i] = 11 * static_cast<double>(i), sums.values[32 + i] = 12 * static_cast<double>(i);
  return sums;
}

const std::vector<OpCase> kMixedMatMul = {
    own({kFloats, kHalves.constant(), values({2}, {0.25, 0}).as(DType::float32)}, "a right operand of halves",
        {values({1, 2}, {321.25, 390.5}).as(DType::float32)}),
    own({kFloats, kHalves}, "halves that are not constant", {}, {"float", "float16"}),
    own({steps({2, 1, 32}, 1), diagonals().constant(), absent(), steps({2, 1, 32}, 10)}, "a batch of halves, a sum", {stairs()}),
    own({kFloats, values({2, 3}, {1, 2, 3, 4, 5, 6}).as(DType::float64).constant()}, "doubles", {}, {"float", "double"}),
};
RH_OP_TEST(MixedMatMul, kMixedMatMul, (Types<float>::set))

}  // namespace
}  // namespace rh::test
