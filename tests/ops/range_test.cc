#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

Input one(double v) { return values({}, {v}); }

const std::vector<OpCase> kRange = {
    {11, {}, {one(1), one(10), one(2)}, "up"},
    {11, {}, {one(10).constant(), one(1).constant(), one(-3).constant()}, "down"},
    {11, {}, {one(5), one(1), one(1)}, "nothing"},
    {11, {}, {one(0).constant(), one(4).constant(), one(1).constant()}, "whole numbers from 0"},
    {11, {}, {one(0), one(3), one(0)}, "delta 0", {"delta is 0"}},
    {11, {}, {one(0).constant(), one(3).constant(), one(0).constant()}, "delta 0 at load", {"delta is 0"}},
};
RH_OP_TEST(Range, kRange, (Types<float, double, int16_t, int32_t, int64_t>::set))

const std::vector<OpCase> kFractions = {
    {11, {}, {one(0.5), one(2.1), one(0.25)}, "fractions"},
    {11, {}, {one(0.5).constant(), one(-2.1).constant(), one(-0.25).constant()}, "fractions known at load"},
};
TEST(OpCases, RangeFractions) { run_op_cases("Range", kFractions, Types<float, double>::set); }

}  // namespace
}  // namespace rh::test
