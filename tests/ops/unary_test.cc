#include "support/op_case.h"

namespace rh::test {
namespace {

const Input kAnything = normal({2, 3, 37});
const Input kPositive = uniform({5, 33}, 0.1, 6);
const Input kUnit = uniform({5, 33}, -1, 1);
const Input kAboveOne = uniform({5, 33}, 1, 6);
const Input kSpecial = values({9}, {inf, -inf, nan, 0, -0.0, 1.5, -2.5, 80, -80});

OpCase one(int opset, const char* op_type, const Input& input, const char* purpose = "elements") {
  return {opset, {}, {input}, purpose, {}, 1, 0, "", op_type};
}

const std::vector<OpCase> kFunctions = {
    one(13, "Exp", uniform({7, 9}, -5, 3)),
    one(13, "Log", kPositive),
    one(13, "Sqrt", kPositive),
    one(13, "Reciprocal", kPositive),
    one(13, "Floor", kAnything),
    one(13, "Ceil", kAnything),
    one(22, "Round", kAnything),
    one(22, "Sin", kAnything),
    one(22, "Cos", kAnything),
    one(22, "Tan", kUnit),
    one(22, "Asin", kUnit),
    one(22, "Acos", kUnit),
    one(22, "Atan", kAnything),
    one(22, "Sinh", kAnything),
    one(22, "Cosh", kAnything),
    one(13, "Tanh", kAnything),
    one(22, "Asinh", kAnything),
    one(22, "Acosh", kAboveOne),
    one(22, "Atanh", uniform({40}, -0.9, 0.9)),
    one(13, "Erf", kAnything),
    one(13, "Sigmoid", kAnything),
    one(6, "Exp", kUnit, "opset 6"),
    one(7, "Sin", kUnit, "opset 7"),
    one(1, "Sigmoid", kUnit, "opset 1"),
};
RH_OP_TEST(FloatingFunctions, kFunctions, FloatingTypes::set)

const std::vector<OpCase> kSpecialValues = {
    one(13, "Abs", kSpecial),
    one(13, "Neg", kSpecial),
    one(13, "Sign", values({4}, {inf, -inf, 0, -3})),
    one(13, "Sqrt", kSpecial),
    one(13, "Sigmoid", kSpecial),
    one(13, "Tanh", kSpecial),
    one(13, "Floor", kSpecial),
    one(22, "Round", values({6}, {0.5, 1.5, 2.5, -0.5, -1.5, nan})),
    one(13, "Erf", kSpecial),
    one(13, "Log", kSpecial),
    one(13, "Exp", kSpecial),
    one(13, "Relu", normal({}), "scalar"),
    one(13, "Abs", normal({0, 4}), "empty"),
};
RH_OP_TEST(SpecialValues, kSpecialValues, (Types<float, double>::set))

const std::vector<OpCase> kSigned = {one(13, "Neg", kAnything), one(13, "Abs", kAnything), one(13, "Sign", kAnything)};
RH_OP_TEST(Signs, kSigned, (Concat<FloatingTypes, SignedTypes>::set))

const std::vector<OpCase> kUnsigned = {one(13, "Abs", kAnything), one(13, "Sign", kAnything)};
RH_OP_TEST(UnsignedSigns, kUnsigned, UnsignedTypes::set)

const std::vector<OpCase> kNot = {one(1, "Not", kAnything.as(DType::boolean))};
RH_OP_TEST(Not, kNot, (Types<bool>::set))
const std::vector<OpCase> kBitwiseNot = {one(18, "BitwiseNot", kAnything)};
RH_OP_TEST(BitwiseNot, kBitwiseNot, IntegerTypes::set)

const std::vector<OpCase> kClasses = {
    one(20, "IsNaN", kSpecial),
    one(20, "IsInf", kSpecial),
    {20, {attr("detect_negative", 0)}, {kSpecial}, "positive ones", {}, 1, 0, "", "IsInf"},
    {20, {attr("detect_positive", 0)}, {kSpecial}, "negative ones", {}, 1, 0, "", "IsInf"},
};
RH_OP_TEST(IsNaN, kClasses, (Concat<FloatingTypes, Types<Float8E5M2>>::set))

const std::vector<OpCase> kErfOfIntegers = {
    {.opset = 9, .inputs = {values({4}, {0, 1, 5, 6})}, .purpose = "towards zero", .expected = {values({4}, {0, 0, 0, 1})}},
};
TEST(OpCases, ErfOfIntegers) { run_op_cases("Erf", kErfOfIntegers, IntegerTypes::set); }

}  // namespace
}  // namespace rh::test
