#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const std::vector<OpCase> kVariadic = {
    {13, {}, {normal({3, 40}), normal({3, 40}), normal({3, 40})}, "same shape"},
    {13, {}, {normal({3, 147}), normal({3, 147})}, "two of one shape"},
    {13, {}, std::vector<Input>(32, normal({5, 61})), "more than a chain takes, a power of two"},
    {13, {}, std::vector<Input>(29, normal({5, 61})), "two turns"},
    {13, {}, {normal({3, 40})}, "one input"},
    {13, {}, {normal({3, 40}), normal({40})}, "a row"},
    {13, {}, {normal({3, 1}), normal({40}), normal({2, 1, 1}), normal({})}, "all spread"},
    {13, {}, {normal({0, 4}), normal({4})}, "empty"},
};
RH_OP_TEST(Max, kVariadic, NumericTypes::set)
RH_OP_TEST(Min, kVariadic, NumericTypes::set)
RH_OP_TEST(Sum, kVariadic, FloatingTypes::set)
RH_OP_TEST(Mean, kVariadic, FloatingTypes::set)

const std::vector<OpCase> kNaN = {
    {13, {}, {values({4}, {nan, 1, nan, 2}), values({4}, {1, nan, nan, 1})}, "NaN wins", {}, 1, 0, "", "Max"},
    {13, {}, {values({4}, {nan, 1, nan, 2}), values({4}, {1, nan, nan, 1})}, "NaN wins", {}, 1, 0, "", "Min"},
};
RH_OP_TEST(ExtremesOfNaN, kNaN, (Types<float, double>::set))

const std::vector<OpCase> kClip = {
    {13, {}, {uniform({3, 41}, 0, 20), values({}, {3}), values({}, {12})}, "both bounds"},
    {13, {}, {uniform({3, 41}, 0, 20), absent(), values({}, {12})}, "upper bound"},
    {13, {}, {uniform({3, 41}, 0, 20), values({}, {3})}, "lower bound"},
    {13, {}, {uniform({3, 41}, 0, 20)}, "no bound"},
    {13, {}, {uniform({3, 41}, 0, 20), values({}, {12}), values({}, {3})}, "bounds crossed"},
    {13, {}, {uniform({0}, 0, 20), values({}, {3}), values({}, {12})}, "empty"},
};
RH_OP_TEST(Clip, kClip, NumericTypes::set)

const std::vector<OpCase> kOldClip = {
    {6, {attr("min", -0.5f), attr("max", 0.25f)}, {normal({3, 41})}, "attributes"},
    {10, {attr("min", -0.5f)}, {normal({3, 41})}, "lower bound"},
    {10, {}, {normal({3, 41})}, "no bound"},
};
TEST(OpCases, OldClip) { run_op_cases("Clip", kOldClip, Types<float, double>::set); }

}  // namespace
}  // namespace rh::test
