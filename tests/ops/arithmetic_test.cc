#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kBinary = {
    // opset, attributes, inputs, what it is for
    {14, {}, {normal({2, 3, 4}), uniform({2, 3, 4}, 1, 9)}, "same shape"},
    {14, {}, {normal({100'003}), uniform({100'003}, 1, 9)}, "long, odd"},
    {14, {}, {normal({2, 3}), uniform({}, 1, 9)}, "scalar on the right"},
    {14, {}, {normal({1}), uniform({2, 3}, 1, 9)}, "one element on the left"},
    {14, {}, {normal({4, 5, 6}), uniform({6}, 1, 9)}, "a row"},
    {14, {}, {normal({2, 3, 4, 5}), uniform({3, 1, 1}, 1, 9)}, "a value a channel"},
    {14, {}, {normal({3, 1, 5}), uniform({1, 4, 1}, 1, 9)}, "both are spread"},
    {14, {}, {normal({2, 1, 3, 1, 5}), uniform({4, 1, 7, 5}, 1, 9)}, "ranks differ, dimensions alternate"},
    {14, {}, {normal({40, 1, 13}), uniform({40, 17, 1}, 1, 9)}, "rows of a few elements, more than a tile of them"},
    {14, {}, {normal({9, 130, 3, 2}), uniform({130, 1, 2}, 1, 9)}, "one is spread, over rows of two elements"},
    {14, {}, {normal({2, 1, 20}), uniform({20, 20}, 1, 9)}, "one is spread, one repeats itself within a tile"},
    {14, {}, {normal({64, 4}), uniform({40, 1, 4}, 1, 9)}, "the same over more than a tile"},
    {14, {}, {normal({}), uniform({}, 1, 9)}, "scalars"},
    {14, {}, {normal({0, 3}), uniform({3}, 1, 9)}, "empty"},
    {14, {}, {normal({2, 3}), uniform({4}, 1, 9)}, "shapes do not fit", {"[2, 3]", "[4]"}},
};
RH_OP_TEST(Add, kBinary, NumericTypes::set)
RH_OP_TEST(Sub, kBinary, NumericTypes::set)
RH_OP_TEST(Mul, kBinary, NumericTypes::set)
RH_OP_TEST(Div, kBinary, NumericTypes::set)

const std::vector<OpCase> kOldBinary = {
    {6, {attr("broadcast", 1), attr("axis", 1)}, {normal({2, 3, 4, 5}), normal({3, 4})}, "axis in the middle", {}, 1, 0, "", "Add"},
    {6, {attr("broadcast", 1), attr("axis", 0)}, {normal({2, 3, 4}), normal({2})}, "first axis", {}, 1, 0, "", "Mul"},
    {6, {attr("broadcast", 1)}, {normal({2, 3, 4}), normal({3, 4})}, "last axes", {}, 1, 0, "", "Sub"},
    {6, {attr("broadcast", 1)}, {normal({2, 3, 4}), normal({1})}, "one element", {}, 1, 0, "", "Div"},
};
RH_OP_TEST(OldBinary, kOldBinary, (Types<float, double>::set))

const std::vector<OpCase> kIntegerEnds = {
    {14, {}, {values({3}, {-128, 127, 100}), values({3}, {1, 1, 100})}, "wraps around", {}, 1, 0, "", "Add"},
    {14, {}, {values({3}, {-128, 127, 5}), values({3}, {-1, 2, 5})}, "wraps around", {}, 1, 0, "", "Mul"},
    {14, {}, {values({3}, {-7, 7, -9}), values({3}, {2, -2, 9})}, "truncates", {}, 1, 0, "", "Div"},
};
RH_OP_TEST(IntegerEnds, kIntegerEnds, (Types<int8_t>::set))

/// What processors trap: a divisor of 0, and the least number by -1.
OpCase trapped(const char* op, std::vector<Attribute> attributes, double least, std::vector<double> expected) {
  const Input a = values({5}, {least, least, 5, 0, -7}), b = values({5}, {-1, 1, 0, 0, 2});
  return {14, std::move(attributes), {a, b}, "what processors trap", {}, 1, 0, "", op, {values({5}, std::move(expected))}, true};
}
std::vector<OpCase> trapped_cases(double least) {
  return {trapped("Div", {}, least, {least, least, 0, 0, -3}), trapped("Mod", {}, least, {0, 0, 0, 0, 1}),
          trapped("Mod", {attr("fmod", 1)}, least, {0, 0, 0, 0, -1})};
}
RH_OP_TEST(TrappedDivisionOf32Bits, trapped_cases(-2147483648.0), (Types<int32_t>::set))
RH_OP_TEST(TrappedDivisionOf64Bits, trapped_cases(-9223372036854775808.0), (Types<int64_t>::set))

}  // namespace
}  // namespace rh::test
