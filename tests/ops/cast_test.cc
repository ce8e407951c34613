#include "support/op_case.h"

namespace rh::test {
namespace {

// One case a target type.
std::vector<OpCase> to_all(int opset, const Input& input, std::initializer_list<DType> targets) {
  std::vector<OpCase> cases;
  for (DType to : targets) cases.push_back({opset, {attr("to", static_cast<int>(to))}, {input}, "to each type"});
  return cases;
}

constexpr std::initializer_list<DType> kTargets = {
    DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int8,    DType::uint8,        DType::int16,      DType::uint16,
    DType::int32,   DType::uint32,  DType::int64,   DType::uint64,   DType::boolean, DType::float8e4m3fn, DType::float8e5m2, DType::string};
using Sources = Concat<Concat<NumericTypes, Types<bool>>, Types<Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>>;
TEST(OpCases, Cast) { run_op_cases("Cast", to_all(19, uniform({3, 50}, 0, 5), kTargets), Sources::set); }
TEST(OpCases, CastNegative) {
  run_op_cases("Cast", to_all(19, values({6}, {-3, -1.5, 0, 0.7, 2.5, -0.2}), {DType::int8, DType::int32, DType::int64, DType::boolean}),
               FloatingTypes::set);
}
TEST(OpCases, CastLong) {
  run_op_cases("Cast", to_all(13, normal({100'003}), {DType::int64, DType::uint8, DType::float64}),
               (Types<float, int32_t, double, Float16>::set));
}
TEST(OpCases, CastPacked) {
  run_op_cases("Cast", to_all(21, values({5}, {0, 7, 3, 5, 1}), {DType::uint4, DType::int4}),
               (Types<float, int8_t, uint8_t, Float16>::set));
  run_op_cases("Cast", to_all(21, values({5}, {0, 1, 2, 3, 7}), {DType::float32, DType::int8, DType::uint8, DType::float16}),
               DTypeSet{DType::uint4, DType::int4});
}

const std::vector<OpCase> kNarrowFloats = {
    {19, {attr("to", 17)}, {values({5}, {inf, -inf, 1000, 448, nan})}, "saturates"},
    {19, {attr("to", 17), attr("saturate", 0)}, {values({5}, {inf, -inf, 1000, 448, nan})}, "does not saturate"},
    {19, {attr("to", 19), attr("saturate", 0)}, {values({4}, {inf, -inf, 1e6, 0.3})}, "infinity where there is one"},
    {19, {attr("to", 20)}, {values({4}, {inf, -inf, 1e6, 0.3})}, "FNUZ"},
};
TEST(OpCases, CastNarrowFloats) { run_op_cases("Cast", kNarrowFloats, Types<float>::set); }

const std::vector<OpCase> kTexts = {
    {19, {attr("to", 1)}, {strings({6}, {"3.14", "-1e-5", "1E8", "+INF", "-inf", "NaN"})}, "to float"},
    {19, {attr("to", 7)}, {strings({3}, {"42", "-7", "+3"})}, "to int64"},
    {19, {attr("to", 8)}, {strings({2}, {"a", ""})}, "to itself"},
    {19, {attr("to", 1)}, {strings({1}, {"Hello"})}, "no number", {"'Hello' is not a number"}},
    {19, {}, {normal({2})}, "no target", {"to"}},
    {19, {attr("to", 99)}, {normal({2})}, "unknown target", {"to is 99"}},
};
TEST(OpCases, CastStrings) { run_op_cases("Cast", kTexts, Types<float>::set); }

const std::vector<OpCase> kLike = {{19, {}, {normal({3, 4}), normal({1}).as(DType::float16)}, "type of the second input"}};
RH_OP_TEST(CastLike, kLike, (Types<float, int32_t>::set))

const std::vector<OpCase> kBits = {
    {26, {attr("to", 12)}, {values({3}, {1, -1, 7})}, "signed as unsigned"},
    {26, {attr("to", 7)}, {normal({3, 4})}, "widths differ", {"int64", "32 bits"}},
};
RH_OP_TEST(BitCast, kBits, (Types<int32_t>::set))

}  // namespace
}  // namespace rh::test
