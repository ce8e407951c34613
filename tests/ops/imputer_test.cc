#include <cmath>

#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";
using Floats = std::vector<float>;

const std::vector<OpCase> kImputer = {
    {1,
     {attr("imputed_value_floats", Floats{7, 8}), attr("replaced_value_float", std::nanf(""))},
     {values({2, 2}, {NAN, 1, 2, NAN})},
     "NaN, by feature",
     {},
     1,
     0,
     kMl},
    {1,
     {attr("imputed_value_floats", Floats{7}), attr("replaced_value_float", 2.0f)},
     {values({2, 2}, {2, 1, 2, 3})},
     "a number, by one",
     {},
     1,
     0,
     kMl},
    {1, {attr("imputed_value_floats", Floats{7, 8, 9})}, {values({2, 2}, {2, 1, 2, 3})}, "other features", {"[2, 2]", "3"}, 1, 0, kMl},
    {1, {}, {values({2, 2}, {2, 1, 2, 3})}, "nothing given", {"imputed_value_floats"}, 1, 0, kMl},
};
const std::vector<OpCase> kIntegers = {
    {1,
     {attr("imputed_value_int64s", {7, 8, 9}), attr("replaced_value_int64", 3)},
     {uniform({3001, 3}, 0, 5)},
     "more rows than are taken at once",
     {},
     1,
     0,
     kMl,
     "Imputer"},
    {1,
     {attr("imputed_value_int64s", {7, 8}), attr("replaced_value_int64", 3)},
     {values({3, 2}, {3, 3, 0, 1, 3, 5})},
     "integers",
     {},
     1,
     0,
     kMl,
     "Imputer"},
};
RH_OP_TEST(Imputer, kImputer, (Types<float, double>::set))
RH_OP_TEST(ImputerOfIntegers, kIntegers, (Types<int64_t, int32_t>::set))

}  // namespace
}  // namespace rh::test
