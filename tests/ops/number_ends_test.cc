#include <gtest/gtest.h>

#include <limits>

#include "graph/text_parse.h"
#include "ops/inference.h"
#include "providers/cpu/kernel.h"

namespace rh::test {
namespace {

// What other runtimes crash on or leave open, so there is no oracle but the numbers written here.
template <typename X, typename Y>
std::vector<Y> run(const std::string& node, const std::string& type, std::vector<std::vector<X>> inputs, int output = 0) {
  std::string parameters;
  std::vector<Value> values;
  for (const std::vector<X>& input : inputs) {
    parameters += (parameters.empty() ? "" : ", ") + type + "[...] x" + std::to_string(values.size());
    values.push_back(Tensor::from<X>({static_cast<int64_t>(input.size())}, input));
  }
  const std::string outputs = output == 0 ? "y" : "_, y";
  const auto graph = parse_graph("<opset_import: [\"\" : 17]> g (" + parameters + ") => (? y) { " + outputs + " = " + node + " }");
  infer_types(*graph);
  const std::vector<Value> results = cpu::evaluate_node(*graph, graph->node(0), values);
  const auto span = results.at(static_cast<size_t>(output)).tensor().span<Y>();
  return {span.begin(), span.end()};
}

constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(NumberEnds, IntegerDivisionByZeroGivesZero) {
  EXPECT_EQ((run<int32_t, int32_t>("Div (x0, x1)", "int32", {{7, -7, 0}, {0, 0, 0}})), (std::vector<int32_t>{0, 0, 0}));
  EXPECT_EQ((run<int32_t, int32_t>("Mod (x0, x1)", "int32", {{7, -7}, {0, 0}})), (std::vector<int32_t>{0, 0}));
  EXPECT_EQ((run<int32_t, int32_t>("Mod <fmod = 1> (x0, x1)", "int32", {{7, -7}, {0, 0}})), (std::vector<int32_t>{0, 0}));
}

TEST(NumberEnds, TheLeastIntegerWraps) {
  EXPECT_EQ((run<int32_t, int32_t>("Div (x0, x1)", "int32", {{kLeast, 6}, {-1, -1}})), (std::vector<int32_t>{kLeast, -6}));
  EXPECT_EQ((run<int32_t, int32_t>("Mod (x0, x1)", "int32", {{kLeast}, {-1}})), (std::vector<int32_t>{0}));
  EXPECT_EQ((run<int32_t, int32_t>("Abs (x0)", "int32", {{kLeast, -2}})), (std::vector<int32_t>{kLeast, 2}));
  EXPECT_EQ((run<int32_t, int32_t>("Neg (x0)", "int32", {{kLeast, -2}})), (std::vector<int32_t>{kLeast, 2}));
}

TEST(NumberEnds, WhatIsBeyondAnIntegerIsItsEnd) {
  EXPECT_EQ((run<int64_t, int64_t>("Shrink <bias = 1e30, lambd = 0.5> (x0)", "int64", {{-3, 0, 7}})),
            (std::vector<int64_t>{std::numeric_limits<int64_t>::max(), 0, std::numeric_limits<int64_t>::min()}));
}

TEST(NumberEnds, ARangeFromEndToEnd) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max(), step = int64_t{1} << 62;
  EXPECT_EQ((run<int64_t, int64_t>("Range (x0, x1, x2)", "int64", {{least}, {most}, {step}})),
            (std::vector<int64_t>{least, -step, 0, step}));
  EXPECT_EQ((run<int64_t, int64_t>("Range (x0, x1, x2)", "int64", {{most}, {least}, {-step}})),
            (std::vector<int64_t>{most, step - 1, -1, -step - 1}));
}

TEST(NumberEnds, IntegerPowers) {
  EXPECT_EQ((run<int32_t, int32_t>("Pow (x0, x1)", "int32", {{2, -1, 1, 3, 0}, {-1, -3, -2, 21, -1}})),
            (std::vector<int32_t>{0, -1, 1, static_cast<int32_t>(10460353203), 0}));
}

TEST(NumberEnds, ShiftsByTheWidthAndMore) {
  EXPECT_EQ((run<uint8_t, uint8_t>("BitShift <direction = \"LEFT\"> (x0, x1)", "uint8", {{255, 255}, {8, 200}})),
            (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ((run<uint8_t, uint8_t>("BitShift <direction = \"RIGHT\"> (x0, x1)", "uint8", {{255, 255}, {8, 7}})),
            (std::vector<uint8_t>{0, 1}));
}

TEST(NumberEnds, NaNIsTheExtreme) {
  EXPECT_EQ((run<float, int64_t>("ArgMax (x0)", "float", {{1, kNan, 3, kNan}})), (std::vector<int64_t>{1}));
  EXPECT_EQ((run<float, int64_t>("ArgMin (x0)", "float", {{1, kNan, 3, kNan}})), (std::vector<int64_t>{1}));
  EXPECT_EQ((run<float, int64_t>("ArgMin <select_last_index = 1> (x0)", "float", {{1, kNan, 3, kNan}})), (std::vector<int64_t>{3}));
  std::vector<float> row(1000, 1.0f);
  row[700] = row[131] = kNan;
  EXPECT_EQ((run<float, int64_t>("ArgMax (x0)", "float", {row})), (std::vector<int64_t>{131}));
  EXPECT_EQ((run<float, int64_t>("TopK@9 <k = 3> (x0)", "float", {{1, kNan, 3, kNan}}, 1)), (std::vector<int64_t>{1, 3, 2}));
  EXPECT_EQ((run<float, int64_t>("TopK@9 <k = 3> (x0)", "float", {row}, 1)), (std::vector<int64_t>{131, 700, 0}));
}

TEST(NumberEnds, FloatsThatNoIntegerHolds) {
  EXPECT_EQ((run<float, int32_t>("Cast <to = 6> (x0)", "float", {{kNan, 1e10f, -1e10f, -7.9f}})),
            (std::vector<int32_t>{kLeast, kLeast, kLeast, -7}));
  EXPECT_EQ((run<float, uint8_t>("Cast <to = 2> (x0)", "float", {{300, -1, 255.9f}})), (std::vector<uint8_t>{44, 255, 255}));
}

}  // namespace
}  // namespace rh::test
