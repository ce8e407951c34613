#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const Input kIndices = values({2, 3}, {1, 0, 2, -1, -3, 1}).as(DType::int64);

const std::vector<OpCase> kScatterElements = {
    {11, {}, {normal({3, 3}), kIndices, normal({2, 3})}, "first axis"},
    {13, {attr("axis", -1)}, {normal({3, 4}), values({3, 2}, {3, 1, 0, -1, 2, 3}).as(DType::int32), normal({3, 2})}, "last axis, int32"},
    {16, {attr("axis", 1)}, {normal({2, 3, 2}), values({1, 2, 2}, {0, 1, 2, 0}).as(DType::int64), normal({1, 2, 2})}, "part of rank 3"},
    {13,
     {},
     {normal({9, 300}), uniform({20, 300}, -9, 8).as(DType::int64), normal({20, 300})},
     "many columns, the last update of equal ones"},
    {13,
     {attr("axis", 1)},
     {normal({2, 5, 70}), uniform({2, 3, 70}, -5, 4).as(DType::int64), normal({2, 3, 70})},
     "columns of a middle axis"},
    {13,
     {attr("axis", 1)},
     {normal({3, 50}), uniform({2, 90}, -50, 49).as(DType::int64), normal({2, 90})},
     "rows with more updates than elements"},
    {13, {}, {normal({3, 40}), uniform({1, 40}, 3, 3).as(DType::int64), normal({1, 40})}, "column out of range", {"indices", "3"}},
    {9, {attr("axis", 1)}, {normal({1, 5}), values({1, 2}, {1, 3}).as(DType::int64), normal({1, 2})}, "Scatter", {}, 1, 0, "", "Scatter"},
    {13, {}, {normal({3}), ints({3}), normal({1})}, "index out of range", {"indices", "3", "[-3, 2]"}},
    {13, {}, {normal({3, 3}), kIndices, normal({2, 2})}, "updates do not fit", {"[2, 3]", "[2, 2]"}},
};
RH_OP_TEST(ScatterElements, kScatterElements, DTypeSet::all())

const Input kRepeated = values({1, 4}, {1, 1, 0, 1}).as(DType::int64);
const std::vector<OpCase> kReductions = {
    {16, {attr("axis", 1), attr("reduction", "add")}, {normal({1, 3}), kRepeated, normal({1, 4})}, "add"},
    {16, {attr("axis", 1), attr("reduction", "mul")}, {normal({1, 3}), kRepeated, normal({1, 4})}, "multiply"},
    {18, {attr("axis", 1), attr("reduction", "min")}, {normal({1, 3}), kRepeated, normal({1, 4})}, "minimum"},
    {18, {attr("axis", 1), attr("reduction", "max")}, {normal({1, 3}), kRepeated, normal({1, 4})}, "maximum"},
    {16,
     {attr("reduction", "add")},
     {normal({9, 300}), uniform({20, 300}, -9, 8).as(DType::int64), normal({20, 300})},
     "many columns, add"},
    {18,
     {attr("axis", 1), attr("reduction", "max")},
     {normal({2, 5, 70}), uniform({2, 3, 70}, -5, 4).as(DType::int64), normal({2, 3, 70})},
     "columns of a middle axis, maximum"},
    {16, {attr("reduction", "add")}, {normal({3, 40}), uniform({7, 40}, 1, 1).as(DType::int64), normal({7, 40})}, "whole rows, add"},
    {18, {attr("reduction", "min")}, {normal({3, 40}), uniform({7, 40}, -1, -1).as(DType::int64), normal({7, 40})}, "whole rows, minimum"},
    {16, {attr("reduction", "mul")}, {normal({3, 40}), uniform({2, 40}, 2, 2).as(DType::int64), normal({2, 40})}, "whole rows, multiply"},
    {16,
     {attr("axis", 1), attr("reduction", "add")},
     {normal({3, 50}), uniform({2, 90}, -50, 49).as(DType::int64), normal({2, 90})},
     "rows with more updates than elements, add"},
    {16,
     {attr("axis", 1), attr("reduction", "add")},
     {normal({2, 3, 4}), uniform({1, 5, 3}, 0, 2).as(DType::int64), normal({1, 5, 3})},
     "part of a middle axis, add"},
    {16,
     {attr("reduction", "add")},
     {normal({3, 40}), uniform({1, 40}, 3, 3).as(DType::int64), normal({1, 40})},
     "add out of range",
     {"indices", "3"}},
};
TEST(OpCases, ScatterElementsReductions) { run_op_cases("ScatterElements", kReductions, NumericTypes::set); }

}  // namespace
}  // namespace rh::test
