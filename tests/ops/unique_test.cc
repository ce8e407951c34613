#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

using Elements = Concat<NumericTypes, Types<bool, std::string>>;

const std::vector<OpCase> kUnique = {
    {11, {}, {normal({30})}, "sorted", {}, 4},
    {11, {attr("sorted", 0)}, {normal({5, 6})}, "in order of appearance", {}, 4},
    {11, {attr("axis", 0)}, {values({4, 2}, {1, 0, 1, 0, 0, 1, 1, 1})}, "rows", {}, 4},
    {11, {attr("axis", -1), attr("sorted", 0)}, {values({2, 4}, {1, 1, 0, 1, 0, 0, 1, 0})}, "columns", {}, 4},
    {11, {attr("axis", 1)}, {values({2, 3, 2}, {1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0})}, "middle axis", {}, 4},
    {11, {}, {normal({3000})}, "many different ones", {}, 4},
    {11, {attr("sorted", 0)}, {uniform({2000}, -40, 40).as(DType::int64)}, "numbers in order of appearance", {}, 4},
    {11, {}, {values({7}, {0, -0.0, 1, -1, 1, -0.0, -1})}, "zeros of both signs", {}, 4},
    {11, {}, {normal({0})}, "empty", {}, 4},
    {11, {attr("axis", 2)}, {normal({2, 2})}, "axis out of range", {"axis is 2", "[-2, 1]"}},
};
TEST(OpCases, Unique) { run_op_cases("Unique", kUnique, (Types<float, double, int8_t, int64_t, std::string>::set)); }

const std::vector<OpCase> kValuesOnly = {{11, {}, {normal({20})}, "values only"}};
TEST(OpCases, UniqueValuesOnly) { run_op_cases("Unique", kValuesOnly, Elements::set); }

}  // namespace
}  // namespace rh::test
