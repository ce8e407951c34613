#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kComparison = {
    {19, {}, {uniform({5, 41}, 0, 4), uniform({5, 41}, 0, 4)}, "same shape"},
    {19, {}, {uniform({5, 41}, 0, 4), uniform({}, 0, 4)}, "scalar"},
    {19, {}, {uniform({41}, 0, 4), uniform({5, 1}, 0, 4)}, "spread"},
    {19, {}, {uniform({0, 4}, 0, 4), uniform({4}, 0, 4)}, "empty"},
};
RH_OP_TEST(Equal, kComparison, (Concat<NumericTypes, Types<bool>>::set))
RH_OP_TEST(Greater, kComparison, NumericTypes::set)
RH_OP_TEST(Less, kComparison, NumericTypes::set)
RH_OP_TEST(GreaterOrEqual, kComparison, NumericTypes::set)
RH_OP_TEST(LessOrEqual, kComparison, NumericTypes::set)

const Input kLeft = values({6}, {nan, inf, -inf, 0, -0.0, 1}), kRight = values({6}, {nan, inf, inf, -0.0, 0, nan});
const std::vector<OpCase> kSpecial = {
    {19, {}, {kLeft, kRight}, "NaN and infinity", {}, 1, 0, "", "Equal"},
    {13, {}, {kLeft, kRight}, "NaN and infinity", {}, 1, 0, "", "Less"},
    {16, {}, {kLeft, kRight}, "NaN and infinity", {}, 1, 0, "", "GreaterOrEqual"},
};
RH_OP_TEST(ComparisonSpecial, kSpecial, FloatingTypes::set)

const std::vector<OpCase> kTexts = {
    {19, {}, {strings({2, 2}, {"a", "b", "", "c"}), strings({2}, {"a", "c"})}, "strings", {}, 1, 0, "", "Equal"},
};
RH_OP_TEST(EqualStrings, kTexts, (Types<std::string>::set))

const std::vector<OpCase> kLogical = {
    {7, {}, {normal({3, 40}), normal({3, 40})}, "same shape"},
    {7, {}, {normal({3, 1}), normal({40})}, "spread"},
    {1, {attr("broadcast", 1), attr("axis", 0)}, {normal({3, 4}), normal({3})}, "old form"},
};
RH_OP_TEST(And, kLogical, (Types<bool>::set))
RH_OP_TEST(Or, kLogical, (Types<bool>::set))
RH_OP_TEST(Xor, kLogical, (Types<bool>::set))

const std::vector<OpCase> kBitwise = {
    {18, {}, {uniform({3, 40}, 0, 120), uniform({3, 40}, 0, 120)}, "same shape"},
    {18, {}, {uniform({3, 1}, 0, 120), uniform({40}, 0, 120)}, "spread"},
};
RH_OP_TEST(BitwiseAnd, kBitwise, IntegerTypes::set)
RH_OP_TEST(BitwiseOr, kBitwise, IntegerTypes::set)
RH_OP_TEST(BitwiseXor, kBitwise, IntegerTypes::set)

const std::vector<OpCase> kShift = {
    {11, {attr("direction", "LEFT")}, {uniform({40}, 0, 120), uniform({40}, 0, 8)}, "left"},
    {11, {attr("direction", "RIGHT")}, {uniform({40}, 0, 120), uniform({40}, 0, 8)}, "right"},
    {11, {attr("direction", "UP")}, {uniform({40}, 0, 120), uniform({40}, 0, 8)}, "unknown direction", {"UP", "LEFT or RIGHT"}},
};
RH_OP_TEST(BitShift, kShift, UnsignedTypes::set)

const std::vector<OpCase> kWhere = {
    {16, {}, {normal({3, 40}).as(DType::boolean), normal({3, 40}), normal({3, 40})}, "same shape"},
    {16, {}, {normal({3, 1}).as(DType::boolean), normal({3, 40}), normal({40})}, "a condition a row"},
    {16, {}, {normal({3, 40}).as(DType::boolean), normal({}), normal({3, 1})}, "spread values"},
    {16, {}, {normal({1, 1, 7, 7}).as(DType::boolean), normal({2, 3, 7, 7}), normal({})}, "a mask"},
    {16, {}, {normal({30, 1, 5}).as(DType::boolean), normal({30, 11, 1}), normal({11, 5})}, "rows of a few elements"},
    {16, {}, {normal({1, 1, 20, 20}).as(DType::boolean), normal({2, 1, 1, 20}), normal({})}, "a mask that repeats itself within a tile"},
    {16, {}, {normal({}).as(DType::boolean), normal({2}), normal({2, 1})}, "scalar condition"},
    {16, {}, {normal({0}).as(DType::boolean), normal({0}), normal({1})}, "empty"},
};
RH_OP_TEST(Where, kWhere, (Concat<NumericTypes, Types<bool, std::string, std::complex<float>, std::complex<double>>>::set))

}  // namespace
}  // namespace rh::test
