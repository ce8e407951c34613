#include "support/op_case.h"

namespace rh::test {
namespace {

const DTypeSet kBytes{DType::int8, DType::uint8};

Input bytes(Shape shape) { return uniform(std::move(shape), 0, 128); }
Input one(double value) { return values({}, {value}).as(DType::float32); }
Input scales(Shape shape) { return uniform(std::move(shape), 0.01, 0.05).as(DType::float32); }

/// What rounds a float elsewhere may be one step off.
std::vector<OpCase> within_a_step(std::vector<OpCase> cases) {
  for (OpCase& c : cases) c.tolerance = 1;
  return cases;
}

OpCase contributed_qlinear(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, const char* op_type = nullptr,
                           std::vector<std::string> fails = {}) {
  return {1, std::move(attributes), std::move(inputs), purpose, std::move(fails), 1, 0, "com.microsoft", op_type};
}

const std::vector<OpCase> kBinary = {
    contributed_qlinear({}, {bytes({5, 70}), one(0.031), bytes({}), bytes({5, 70}), one(0.017), bytes({}), one(0.043), bytes({})},
                        "equal shapes", "QLinearAdd"),
    contributed_qlinear({}, {bytes({5, 70}), one(0.031), absent(), bytes({70}), one(0.017), absent(), one(0.043)},
                        "a row, without zero points", "QLinearAdd"),
    contributed_qlinear({}, {bytes({3, 1, 4}), one(0.031), bytes({}), bytes({2, 1}), one(0.017), bytes({}), one(0.043), bytes({})},
                        "both stretch", "QLinearAdd"),
    contributed_qlinear({}, {bytes({5, 70}), one(0.031), bytes({}), bytes({5, 70}), one(0.017), bytes({}), one(0.043), bytes({})},
                        "equal shapes", "QLinearMul"),
    contributed_qlinear({}, {bytes({5, 600}), one(0.031), bytes({}), bytes({}), one(0.017), bytes({}), one(0.013), bytes({})}, "a number",
                        "QLinearMul"),
    contributed_qlinear({},
                        {bytes({2, 130, 3, 5}), one(0.031), bytes({}), bytes({2, 130, 1, 1}), one(0.017), bytes({}), one(0.013), bytes({})},
                        "a number for each of many short rows", "QLinearMul"),
    contributed_qlinear({}, {bytes({1, 24}), one(0.031), bytes({}), bytes({3, 70, 24}), one(0.017), bytes({}), one(0.043), bytes({})},
                        "a short row for many", "QLinearAdd"),
    contributed_qlinear({}, {bytes({2, 40, 1}), one(0.031), bytes({}), bytes({40, 7}), one(0.017), bytes({}), one(0.043), bytes({})},
                        "rows that come again", "QLinearAdd"),
    contributed_qlinear({}, {bytes({2}), scales({2}), bytes({}), bytes({2}), one(0.1), bytes({}), one(0.1), bytes({})}, "two scales",
                        "QLinearAdd", {"scale", "[2]"}),
};
RH_OP_TEST(QLinearBinary, kBinary, kBytes)

const std::vector<OpCase> kUnary = {
    contributed_qlinear({}, {bytes({500}), one(0.05), bytes({}), one(0.0039), bytes({})}, "sigmoid", "QLinearSigmoid"),
    contributed_qlinear({attr("alpha", 0.2f)}, {bytes({500}), one(0.05), bytes({}), one(0.043), bytes({})}, "leaky", "QLinearLeakyRelu"),
    contributed_qlinear({}, {bytes({500}), one(0.05), bytes({}), one(0.043), bytes({})}, "default slope", "QLinearLeakyRelu"),
    contributed_qlinear({}, {bytes({500}), one(0.05).constant(), bytes({}).constant(), one(0.043).constant(), bytes({}).constant()},
                        "constant scales", "QLinearLeakyRelu"),
    contributed_qlinear({}, {bytes({70}), one(0.05).constant(), absent(), one(0.0039).constant(), bytes({}).constant()},
                        "constant scales, one zero point", "QLinearSigmoid"),
    contributed_qlinear({}, {bytes({70}), scales({2}).constant(), absent(), one(0.0039).constant(), bytes({}).constant()},
                        "two constant scales", "QLinearSigmoid", {"scale", "[2]"}),
};
RH_OP_TEST(QLinearUnary, kUnary, kBytes)

OpCase own(std::vector<Input> inputs, const char* purpose, std::vector<std::string> fails = {}) {
  return {1, {}, std::move(inputs), purpose, std::move(fails), 1, 0, "roundhouse"};
}

const std::vector<OpCase> kTables = {
    own({bytes({5, 7}), bytes({256})}, "a matrix"),
    own({bytes({700}), bytes({256}).constant()}, "a constant table"),
    own({bytes({0, 3}), bytes({256})}, "nothing"),
    own({bytes({5}), bytes({255})}, "a table that is too short", {"255", "256"}),
};
RH_OP_TEST(ByteTable, kTables, kBytes)

const std::vector<OpCase> kWhere = {
    contributed_qlinear({},
                        {uniform({5, 7}, 0, 2).as(DType::boolean), bytes({5, 7}), one(0.03), bytes({}), bytes({7}), one(0.05), bytes({}),
                         one(0.04), bytes({})},
                        "rescaled"),
    contributed_qlinear({},
                        {uniform({3, 2077}, 0, 2).as(DType::boolean), bytes({3, 2077}), one(0.03), bytes({}), bytes({3, 2077}), one(0.05),
                         bytes({}), one(0.04), bytes({})},
                        "rows of several blocks"),
    contributed_qlinear({},
                        {uniform({2, 1}, 0, 2).as(DType::boolean), bytes({2, 45}), one(0.03), bytes({}), bytes({2, 1}), one(0.05),
                         bytes({}), one(0.04), bytes({})},
                        "a condition a row"),
    contributed_qlinear({},
                        {uniform({2, 45}, 0, 2).as(DType::boolean), bytes({2, 1}), one(0.03), bytes({}), bytes({45}), one(0.05), bytes({}),
                         one(0.04), bytes({})},
                        "a code a row"),
};
RH_OP_TEST(QLinearWhere, kWhere, kBytes)

const std::vector<OpCase> kConcat = {
    contributed_qlinear({attr("axis", 1)},
                        {one(0.04), bytes({}), bytes({2, 3, 4}), one(0.03), bytes({}), bytes({2, 1, 4}), one(0.05), bytes({})}, "rescaled"),
    contributed_qlinear({attr("axis", -1)}, {one(0.04), bytes({}), bytes({5}), one(0.04), bytes({})}, "one input"),
    contributed_qlinear({attr("axis", 1)},
                        {one(0.04).constant(), bytes({}).constant(), bytes({3, 200}), one(0.03).constant(), bytes({}).constant(),
                         bytes({3, 70}), one(0.05), bytes({})},
                        "constant scales of one input"),
    contributed_qlinear({attr("axis", 0)}, {one(0.04), bytes({}), bytes({2, 3}), one(0.03), bytes({}), bytes({2, 4}), one(0.05), bytes({})},
                        "sizes do not fit", nullptr, {"3", "4"}),
};
RH_OP_TEST(QLinearConcat, kConcat, kBytes)

const std::vector<OpCase> kSoftmax = within_a_step({
    contributed_qlinear({attr("axis", -1), attr("opset", 13)}, {bytes({7, 20}), one(0.05), bytes({}), one(0.0039), values({}, {0})},
                        "last axis"),
    contributed_qlinear({attr("axis", 1), attr("opset", 13)}, {bytes({2, 5, 6}), one(0.05), bytes({}), one(0.0039), values({}, {0})},
                        "inner axis"),
    contributed_qlinear({attr("axis", 1), attr("opset", 11)}, {bytes({2, 5, 6}), one(0.05), bytes({}), one(0.0039), values({}, {0})},
                        "flattened"),
});
RH_OP_TEST(QLinearSoftmax, kSoftmax, kBytes)

const std::vector<OpCase> kPool = within_a_step({
    contributed_qlinear({attr("kernel_shape", {3, 3}), attr("strides", {2, 2})},
                        {bytes({2, 3, 9, 11}), one(0.03), bytes({}), one(0.02), bytes({})}, "window", "QLinearAveragePool"),
    contributed_qlinear({attr("kernel_shape", {2, 2}), attr("pads", {1, 1, 0, 0}), attr("count_include_pad", 1)},
                        {bytes({1, 3, 8, 8}), one(0.03), bytes({}), one(0.02), bytes({})}, "padded", "QLinearAveragePool"),
    contributed_qlinear({attr("kernel_shape", {3, 3}), attr("channels_last", 1)},
                        {bytes({2, 9, 8, 5}), one(0.03), bytes({}), one(0.02), bytes({})}, "channels last", "QLinearAveragePool"),
    contributed_qlinear({}, {bytes({2, 3, 9, 11}), one(0.03), bytes({}), one(0.02), bytes({})}, "all", "QLinearGlobalAveragePool"),
    contributed_qlinear({attr("channels_last", 1)}, {bytes({2, 9, 11, 40}), one(0.03), bytes({}), one(0.02), bytes({})},
                        "all, channels last", "QLinearGlobalAveragePool"),
});
RH_OP_TEST(QLinearPool, kPool, kBytes)

const std::vector<OpCase> kGemm = {
    contributed_qlinear(
        {}, {bytes({5, 30}), one(0.03), bytes({}), bytes({30, 17}).constant(), one(0.02), bytes({}), absent(), one(0.5), bytes({})},
        "quantised"),
    contributed_qlinear({attr("transB", 1), attr("alpha", 0.5f)},
                        {bytes({5, 30}), one(0.03), bytes({}), bytes({17, 30}).constant(), scales({17}), bytes({17}),
                         uniform({17}, -2000, 2000).as(DType::int32), one(0.5), bytes({})},
                        "a column, bias"),
    contributed_qlinear(
        {attr("transA", 1)},
        {bytes({30, 5}), one(0.03), bytes({}), bytes({30, 17}), one(0.02), bytes({}), uniform({5, 17}, -2000, 2000).as(DType::int32)},
        "to float"),
    contributed_qlinear({}, {bytes({5, 30}), one(0.03), bytes({}), bytes({31, 17}), one(0.02), bytes({})}, "sizes do not fit", nullptr,
                        {"[5, 30]", "[31, 17]"}),
};
RH_OP_TEST(QGemm, kGemm, kBytes)

}  // namespace
}  // namespace rh::test
